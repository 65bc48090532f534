-- How the parameters of a model lie in a table: which keys each has. pyps/nn/dense/pieces.py is the same in Python,
-- and says why.
local bit = require 'bit'
local ffi = require 'ffi'
local buffer = require 'luaps.buffer'

local LONGEST = 1024 -- elements of a value, a power of two
local IDS = 0x100000000000000LL -- a key has 56 bits for the id, below the byte for the class

local pieces = {lengths = {}} -- the lengths of the table's classes of keys

for number = 0, 10 do
   pieces.lengths[number + 1] = bit.rshift(LONGEST, number)
end

-- The classes of the values of a parameter of so many elements, in their order.
local function classes(size)
   local found = {}
   for _ = 1, math.floor(size / LONGEST) do
      found[#found + 1] = 0
   end
   for number, length in ipairs(pieces.lengths) do
      if bit.band(size % LONGEST, length) ~= 0 then
         found[#found + 1] = number - 1
      end
   end
   return found
end

-- The keys of each parameter, as buffers, and the number of keys of all. `sizes` are the elements of each.
function pieces.keys(sizes)
   local found, first = {}, 0
   for i, size in ipairs(sizes) do
      local of_each = classes(size)
      local keys = ffi.new('int64_t[?]', #of_each)
      for k, class in ipairs(of_each) do
         keys[k - 1] = class * IDS + first + k - 1
      end
      found[i], first = buffer.new(keys), first + #of_each
   end
   return found, first
end

return pieces
