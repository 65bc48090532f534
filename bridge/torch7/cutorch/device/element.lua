-- Reading and writing elements of tensors on a device, each of which is a copy between the device and the CPU: what
-- torch.element is to tensors here.
local ffi = require 'ffi'
local aten = require 'torch.aten'
local object = require 'torch.object'

local tensor, keep = object.tensor, object.keep
local number = ffi.new('double[1]')

return function(element, metatable, native, index, assign)
   local C, view, name = native.C, native.row, element.tensortype

   local function read(t, offset)
      if C.br_device_read(t.storage, offset, number) ~= 0 then
         aten.raise()
      end
      return number[0]
   end

   local function write(t, offset, value)
      if C.br_device_write(t.storage, offset, value) ~= 0 then
         aten.raise()
      end
   end

   -- The element at position `key` of a vector, as an offset; -1 is the last.
   local function position(t, key)
      local size = tonumber(t.size[0])
      local i = key < 0 and math.ceil(key) + size + 1 or math.floor(key)
      if not (i >= 1 and i <= size) then
         error("bad argument #2 to '?' (out of range)", 0)
      end
      return t.storageOffset + (i - 1) * t.stride[0]
   end

   local function check(self)
      if getmetatable(self) ~= metatable then
         error(string.format("bad argument #1 to '?' (%s expected, got boolean)", name), 0)
      end
      return tensor(self)
   end

   local function __index(self, key)
      local t = check(self)
      if type(key) == 'number' then
         if t.nDimension == 0 then
            error("bad argument #1 to '?' (empty tensor)", 0)
         elseif t.nDimension > 1 then
            return view(metatable, self, key) or error("bad argument #2 to '?' (out of range)", 0)
         end
         local value = read(t, position(t, key))
         keep(self)
         return value
      elseif type(key) == 'table' or type(key) == 'userdata' then
         return index(self, key)
      end
      local found = metatable[key]
      if found == nil and type(key) == 'string' then
         return index(self, key)
      end
      return found
   end

   local function __newindex(self, key, value)
      local t = check(self)
      if type(key) == 'number' and type(value) == 'number' and t.nDimension == 1 then
         write(t, position(t, key), value)
         keep(self)
      elseif not assign(self, key, value) then
         error(string.format('the class %s cannot be indexed', name), 2)
      end
   end

   return __index, __newindex, read, write
end
