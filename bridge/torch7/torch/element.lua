-- Reading and writing elements by `t[i]` and `t[{i, j}]`: the hottest code here, compiled once per element type.
--
-- Returns the two metamethods of one type. Everything they do not do themselves goes to `index` and `assign`
-- (torch.index). Memory is reached through storage.live and checked against what is valid there on every access; in a
-- loop LuaJIT hoists those loads.
--
-- Compiled code looks for an interruption wherever the function or the line changes. So that an element costs two looks
-- and no more, tensor.lua strips the lines from this file, and the way to an element of a vector makes no call.
return function(element, metatable, native, index, assign)
   local ffi, arguments = require 'ffi', require 'torch.arguments'
   local cast, type, tonumber, error, getmetatable = ffi.cast, type, tonumber, error, getmetatable
   local C = native.C
   local tensorpointer = ffi.typeof('br_tensor*')
   local pointer, bytes, name = element.pointer, element.bytes, element.tensortype
   local int64 = ffi.typeof('int64_t')
   local half, long = element.name == 'Half', element.name == 'Long'
   local dtype, parts, mask = element.id, element.parts, element.nanmask
   local band = require('bit').band
   local view = native.row

   local function out(self, key)
      arguments.noted(key, 1, cast(tensorpointer, self).size[0], 'out of range')
      error("bad argument #2 to '?' (out of range)", 0)
   end

   local function gone(level)
      error('the memory behind this tensor was released or shrunk by its owner', level or 3)
   end

   -- The memory of the element at `offset`.
   local function memory(t, offset)
      local storage = t.storage
      if offset < 0 or (offset + 1) * bytes > storage.live_nbytes[0] then
         gone(4)
      end
      return cast(pointer, storage.live[0])
   end

   local function read(t, offset)
      local data = memory(t, offset)
      if half then
         return C.br_half_to_double(data[offset])
      elseif long then
         return tonumber(data[offset])
      elseif mask and band(cast(parts, data)[offset].high, mask) == mask then
         return C.br_number(data + offset, dtype)
      end
      return data[offset]
   end

   local function write(t, offset, value)
      if half then
         memory(t, offset)[offset] = C.br_half_from_double(value)
      else
         memory(t, offset)[offset] = value
      end
   end

   -- A position in dimension d as an offset; -1 is the last.
   local function position(t, d, key)
      local i, size = int64(key), t.size[d]
      if i < 0 then
         i = i + size + 1
      end
      if i < 1 or i > size then
         return nil
      end
      return (i - 1) * t.stride[d]
   end

   -- The row self[key] of a tensor with several dimensions.
   local function row(self, key)
      return view(metatable, self, key) or out(self, key)
   end

   local function __index(self, key)
      if getmetatable(self) ~= metatable then
         error("bad argument #1 to '?' (" .. name .. ' expected, got boolean)', 0)
      end
      if type(key) == 'number' then
         local t = cast(tensorpointer, self)
         if t.nDimension == 1 then
            local i, size = int64(key), t.size[0]
            if i < 0 then
               i = i + size + 1
            end
            if i < 1 or i > size then
               out(self, key)
            end
            local offset, storage = (i - 1) * t.stride[0] + t.storageOffset, t.storage
            if offset < 0 or (offset + 1) * bytes > storage.live_nbytes[0] then
               gone()
            elseif half then
               return C.br_half_to_double(cast(pointer, storage.live[0])[offset])
            elseif long then
               return tonumber(cast(pointer, storage.live[0])[offset])
            elseif mask and band(cast(parts, storage.live[0])[offset].high, mask) == mask then
               return C.br_number(cast(pointer, storage.live[0]) + offset, dtype)
            end
            return cast(pointer, storage.live[0])[offset]
         elseif t.nDimension == 0 then
            error("bad argument #1 to '?' (empty tensor)", 0)
         end
         return row(self, key)
      elseif type(key) == 'table' then
         local t = cast(tensorpointer, self)
         local i, j = key[1], key[2]
         if t.nDimension == 2 and type(i) == 'number' and type(j) == 'number' and key[3] == nil then
            local first, second = position(t, 0, i), position(t, 1, j)
            if first and second then
               return read(t, first + second + t.storageOffset)
            end
         end
         return index(self, key)
      elseif type(key) == 'userdata' then
         return index(self, key)
      end
      local found = metatable[key]
      if found == nil and type(key) == 'string' then
         return index(self, key)
      end
      return found
   end

   local function __newindex(self, key, value)
      if getmetatable(self) ~= metatable then
         error("bad argument #1 to '?' (" .. name .. ' expected, got boolean)', 0)
      end
      if type(key) == 'number' and type(value) == 'number' then
         local t = cast(tensorpointer, self)
         if t.nDimension == 1 then
            local i, size = int64(key), t.size[0]
            if i < 0 then
               i = i + size + 1
            end
            if i < 1 or i > size then
               out(self, key)
            end
            local offset, storage = (i - 1) * t.stride[0] + t.storageOffset, t.storage
            if offset < 0 or (offset + 1) * bytes > storage.live_nbytes[0] then
               gone()
            elseif half then
               value = C.br_half_from_double(value)
            end
            cast(pointer, storage.live[0])[offset] = value
            return
         end
      elseif type(key) == 'table' and type(value) == 'number' then
         local t = cast(tensorpointer, self)
         local i, j = key[1], key[2]
         if t.nDimension == 2 and type(i) == 'number' and type(j) == 'number' and key[3] == nil then
            local first, second = position(t, 0, i), position(t, 1, j)
            if first and second then
               return write(t, first + second + t.storageOffset, value)
            end
         end
      end
      if not assign(self, key, value) then
         error(string.format('the class %s cannot be indexed', name), 2)
      end
   end

   return __index, __newindex, read, write
end
