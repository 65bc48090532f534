-- The element types, by number (as in bridge/core/tensors/layout.h) and by name.
local ffi = require 'ffi'

-- name, C type in memory, C type as error messages print it, bytes, integer?
local rows = {
   {'Byte', 'uint8_t', 'unsigned char', 1, true},
   {'Char', 'int8_t', 'char', 1, true},
   {'Short', 'int16_t', 'short', 2, true},
   {'Int', 'int32_t', 'int', 4, true},
   {'Long', 'int64_t', 'long', 8, true},
   {'Half', 'uint16_t', 'half', 2, false},
   {'Float', 'float', 'float', 4, false},
   {'Double', 'double', 'double', 8, false},
}

-- A type on a device has the number of the CPU's plus DEVICE; cutorch makes its row.
local elements = {count = #rows, DEVICE = #rows, named = {}} -- named: full name of a tensor type -> its row

-- Of types with NaNs that LuaJIT may take for other values (torch.number): where the high word of an element is, and
-- the bits of it that are all set in those NaNs (of a float: in infinities too).
local nans = {
   Float = {ffi.typeof('struct { int32_t high; }*'), 0x7f800000},
   Double = {ffi.typeof('struct { int32_t low, high; }*'), 0x7ff80000},
}

for i, row in ipairs(rows) do
   local name, stored, printed, bytes, integer = unpack(row)
   local nan = nans[name] or {}
   local element = {
      id = i - 1,
      name = name,
      stored = stored,
      printed = printed,
      bytes = bytes,
      integer = integer,
      parts = nan[1],
      nanmask = nan[2],
      pointer = ffi.typeof(stored .. '*'),
      tensor = name .. 'Tensor',
      tensortype = 'torch.' .. name .. 'Tensor',
      storagetype = 'torch.' .. name .. 'Storage',
   }
   elements[element.id] = element
   elements[name] = element
   elements.named[element.tensortype] = element
end

-- The number of an element type where tensors of type `dtype` are: on the CPU, or on the device.
function elements.beside(id, dtype)
   return dtype < elements.DEVICE and id or id + elements.DEVICE
end

return elements
