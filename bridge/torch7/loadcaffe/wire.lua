-- Protocol buffers as they lie in a file: fields with a number and a kind of data. Nothing is believed beyond the end
-- of what it lies in.
local ffi = require 'ffi'

local wire = {}

local float = ffi.typeof('union { uint8_t bytes[4]; float value; }')

local function truncated()
   error('the file ends in the middle of a field, or is no file of protocol buffers', 0)
end

-- A number of 7 bits a byte at p, and where it ends. Sizes and codes are below 2^53.
local function varint(data, p, stop)
   local value, scale = 0, 1
   for _ = 1, 10 do
      if p >= stop then
         truncated()
      end
      local byte = data[p]
      p = p + 1
      value = value + (byte % 128) * scale
      if byte < 128 then
         return value, p
      end
      scale = scale * 128
   end
   error('a number of more than 10 bytes: this is no file of protocol buffers', 0)
end

-- Go through the fields of a message that lies in data[first .. last - 1]: number, kind ('varint', 'fixed64', 'bytes',
-- 'fixed32'), then the value of a varint, or where the content lies.
function wire.fields(data, first, last)
   local p = first
   return function()
      if p >= last then
         return nil
      end
      local key, number, kind
      key, p = varint(data, p, last)
      number, kind = math.floor(key / 8), key % 8
      if kind == 0 then
         local value
         value, p = varint(data, p, last)
         return number, 'varint', value
      end
      local length
      if kind == 1 then
         length = 8
      elseif kind == 2 then
         length, p = varint(data, p, last)
      elseif kind == 5 then
         length = 4
      else
         error(string.format('a field of kind %d: this is no file of protocol buffers', kind), 0)
      end
      local from = p
      if length > last - from then
         truncated()
      end
      p = from + length
      return number, kind == 1 and 'fixed64' or kind == 2 and 'bytes' or 'fixed32', from, p
   end
end

function wire.text(data, from, to)
   return ffi.string(data + from, to - from)
end

-- The float at `from`, as a number of Lua (what is no number is the plain NaN).
function wire.float(data, from)
   local cell = float()
   ffi.copy(cell.bytes, data + from, 4)
   local value = tonumber(cell.value)
   return value == value and value or 0 / 0
end

-- The numbers of a field that repeats, packed.
function wire.varints(data, from, to)
   local list = {}
   while from < to do
      list[#list + 1], from = varint(data, from, to)
   end
   return list
end

return wire
