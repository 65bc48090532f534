-- Keys of servers whose keys are arbitrary numbers and whose values have several lengths.
local ffi = require 'ffi'
local arguments = require 'luaps.arguments'
local elements = require 'luaps.elements'
local errors = require 'luaps.errors'
local keys = require 'luaps.keys'

local MOST_CLASSES = 128
local MOST_IDS = 0x100000000000000LL -- a key has 56 bits for the id, below the byte for the class

-- Where the keys of `n` ids go: memory for int64, and what is returned.
local function output(ids, n)
   if elements.tensorclass(ids) then
      local made = ids:long():clone()
      return made:data(), made
   end
   local memory = ffi.new('int64_t[?]', n)
   return memory, memory
end

local lengthclasses = {}

function lengthclasses.keys(number, ids)
   number = arguments.whole('the length class', number, 0, MOST_CLASSES - 1)
   local data, n = keys.read(keys.scratch(), ids, 0, 'ids')
   local to, made = output(ids, n)
   for i = 0, n - 1 do
      if data[i] < 0 or data[i] >= MOST_IDS then
         errors.raise('id %s at position %d is outside [0, 2^56)', (tostring(data[i]):gsub('LL$', '')), i + 1)
      end
      to[i] = data[i] + number * MOST_IDS
   end
   if type(ids) == 'number' or ffi.istype('int64_t', ids) then
      return made[0]
   elseif type(ids) ~= 'table' then
      return made
   end
   local list = {}
   for i = 1, n do
      list[i] = made[i - 1]
   end
   return list
end

return lengthclasses
