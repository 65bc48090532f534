-- torch.CudaXStorage on a device. What a storage does element by element, it does as a tensor over its memory.
local ffi = require 'ffi'
local native = require 'bridge.native'
local class = require 'torch.class'
local elements = require 'torch.elements'
local object = require 'torch.object'
local arguments = require 'torch.arguments'
local aten = require 'torch.aten'

local C = native.C
local DEVICE = elements.DEVICE

-- The storage's memory as a tensor.
local function over(storage)
   local tensor = object.newtensor(object.storagetype(storage))
   return tensor:set(storage, 1, object.storage(storage).size)
end

-- A number from 1 to the size as a position.
local function position(self, key)
   local storage = arguments.storage(1, self)
   local i = key < 0 and math.ceil(key) or math.floor(key)
   if not (i >= 1 and i <= storage.size) then
      error("bad argument #2 to '?' (out of bounds)", 3)
   end
   return i
end

local methods = {}

function methods:fill(value)
   if #self > 0 then
      over(self):fill(value)
   end
   return self
end

function methods:totable()
   return #self > 0 and over(self):totable() or {}
end

function methods:getDevice()
   return C.br_device_number(arguments.storage(1, self)) + 1
end

-- Copies between storages of any types and places; equally many elements.
local function copy(self, source)
   if not object.storagetype(source) then
      arguments.missing(2, 'torch.*Storage', source)
   elseif #self ~= #source then
      arguments.bad(2, 'size mismatch')
   elseif #self > 0 then
      over(self):copy(over(source))
   end
   return self
end
methods.copy = copy

local function build(kind, torch)
   local host = object.storagemetatables[kind.id - DEVICE]
   local metatable = {}
   for name, method in next, host do
      if name:sub(1, 2) ~= '__' or name == '__gc' or name == '__len' or name == '__len__' or name == '__eq'
         or name == '__pointer' or name == '__pushudata' then
         metatable[name] = method
      end
   end
   for name, method in pairs(methods) do
      metatable[name] = method
   end

   -- What a storage of the CPU is made of; a pointer has to be one of the CPU, whose elements are copied.
   local function new(first, ...)
      if object.storagetype(first) == kind.id then
         local start = (...) and arguments.integer(2, (...)) or 1
         local size = select(2, ...) and arguments.integer(3, (select(2, ...))) or #first - start + 1
         if start < 1 or start > #first then
            arguments.raise('offset out of bounds')
         elseif size < 1 or start + size - 1 > #first then
            arguments.raise('size out of bounds')
         end
         local part = C.br_storage_part(object.storage(first), start - 1, size)
         if part == nil then
            aten.raise()
         end
         return object.wrapstorage(part)
      elseif (first == nil or arguments.number(first)) and (...) == nil then
         local size = first and arguments.integer(1, first) or 0
         if size < 0 then
            arguments.bad(1, 'size must not be negative, got %d', size)
         end
         return object.wrapstorage(object.allocate(kind.id, size))
      end
      local made = host.new(first, ...)
      return copy(object.wrapstorage(object.allocate(kind.id, #made)), made)
   end
   metatable.new = new

   function metatable.__factory()
      return new()
   end

   function metatable.__index(self, key)
      if type(key) == 'number' then
         local at = position(self, key)
         return over(self)[at]
      end
      return metatable[key]
   end

   function metatable.__newindex(self, key, value)
      if type(key) ~= 'number' then
         error(string.format('the class %s cannot be indexed', kind.storagetype), 2)
      end
      local number = arguments.number(value)
      if not number then
         error(string.format("bad argument #3 to '?' (number expected, got %s)", type(value)), 2)
      end
      over(self)[position(self, key)] = number
   end

   -- The same elements as a storage of the CPU.
   local function here(self)
      return copy(host.new(#self), self)
   end

   function metatable:__tostring__()
      local text = tostring(here(self))
      local at = text:find('[' .. kind.host.storagetype, 1, true)
      return text:sub(1, at) .. kind.storagetype .. text:sub(at + 1 + #kind.host.storagetype)
   end

   if host.string then -- the bytes as a string; with a string: take them over
      function metatable:string(text)
         if text == nil then
            return here(self):string()
         end
         return copy(self:resize(#text), host.new():string(text))
      end
   end

   -- In files they are like those of the CPU but for the name.
   function metatable:write(file)
      host.write(here(self), file)
   end

   function metatable:read(file)
      local read = host.new()
      host.read(read, file)
      object.resizestorage(arguments.storage(1, self), #read)
      copy(self, read)
   end

   ffi.cdef(string.format([[
      typedef struct TH%sStorage {
         %s *data; ptrdiff_t size; int refcount; char flag; void *allocator; void *allocatorContext;
         struct TH%sStorage *view;
      } TH%sStorage;]], kind.name, kind.stored, kind.name, kind.name))
   kind.thstorage = ffi.typeof('TH' .. kind.name .. 'Storage*')
   object.storagetypeof[metatable] = kind.id
   object.storagemetatables[kind.id] = metatable
   class.adopt(kind.storagetype, metatable, new)
   native.register('storage', kind.id, metatable)

   -- type(): the name. type(name): the same elements as a storage of that type, itself if it is one.
   local function convert(self, name)
      local own = getmetatable(self).__typename
      if name == nil or name == own then
         return name and self or own
      end
      return torch.getconstructortable(name)(#self):copy(self)
   end
   metatable.type = convert
end

return function(torch)
   for id = DEVICE, DEVICE + elements.count - 1 do
      build(elements[id], torch)
   end
   -- The CPU's storages read nothing of a device by themselves.
   for id = 0, elements.count - 1 do
      local metatable = object.storagemetatables[id]
      local plain = metatable.copy
      function metatable:copy(source)
         local dtype = object.storagetype(source)
         return (dtype and dtype >= DEVICE and copy or plain)(self, source)
      end
   end
end
