-- Lists: plain tables of numbers as values. They are copied to or from FFI memory of the server's element type.
local ffi = require 'ffi'
local errors = require 'luaps.errors'

local raise, shown = errors.raise, errors.shown

local WHOLE = 2^53
local NAN = 0 / 0
-- The high word of an element with the largest exponent: infinity and NaN.
local NOT_NAN = {float = 0x7f800000, double = 0x7ff00000}
local words = ffi.typeof('const uint32_t *')

-- For each C type, as LuaJIT prints its name: the range of its whole numbers.
local ranges = {int = {-2^31, 2^31 - 1}, int64_t = {-WHOLE, WHOLE}}

local lists = {}

function lists.is(value, ...) -- luacheck: ignore 212
   return type(value) == 'table' and getmetatable(value) == nil
end

local function refuse(number, position, element)
   if type(number) ~= 'number' and type(number) ~= 'cdata' then
      raise('values must be numbers; got %s at position %d', shown(number), position)
   end
   raise('the value %s at position %d is no %s', shown(number), position, element.name)
end

local function fits(number, range)
   if type(number) == 'number' then
      return not range or number % 1 == 0 and number >= range[1] and number <= range[2]
   end
   return range ~= nil and range[2] == WHOLE and ffi.istype('int64_t', number)
end

-- Memory for `n` elements. Half-precision elements are refused, because Lua has no such numbers.
function lists.memory(n, element)
   if element.ctype == 'unsigned short' then
      raise('the server holds %s, which Lua has no numbers for; use %sa luaps.buffer of uint16_t', element.name,
         element.tensor and 'a ' .. element.tensor .. ' or ' or '')
   end
   return ffi.new(element.ctype .. '[?]', n)
end

-- Memory with the numbers of a list, and their count.
function lists.read(list, element)
   local n = table.maxn(list) -- finds the holes, which #list may not
   if n == 0 and next(list) ~= nil then
      raise('values: a table of numbers was expected, got one with named fields')
   end
   local memory, range = lists.memory(n, element), ranges[element.ctype]
   for i = 1, n do
      local number = list[i]
      if not fits(number, range) then
         refuse(number, i, element)
      end
      memory[i - 1] = number
   end
   return memory, n
end

-- Read a float from memory. LuaJIT would take some bit patterns of a NaN for a value of another type, so that every NaN
-- is replaced by its own.
local function readfloat(memory, i, high, limit)
   local word = high[i]
   return bit.band(word, 0x7fffffff) >= limit and bit.band(word, 0x7fffffff) ~= limit and NAN or memory[i]
end

local function readdouble(memory, i, high, limit)
   local word, low = bit.band(high[2 * i + 1], 0x7fffffff), high[2 * i]
   return (word > limit or word == limit and low ~= 0) and NAN or memory[i]
end

local function readint64(memory, i)
   local number = tonumber(memory[i])
   return math.abs(number) < WHOLE and number or memory[i] -- 2^53 may be the rounded 2^53 + 1
end

local function readint(memory, i)
   return memory[i]
end

local readers = {float = readfloat, double = readdouble, int = readint, int64_t = readint64}

-- Fill a list with the `n` elements in memory. Numbers of type int64 with a magnitude of 2^53 or more are stored as
-- int64_t.
function lists.write(list, memory, n, element)
   local read, high = readers[element.ctype], ffi.cast(words, memory)
   local limit = NOT_NAN[element.ctype]
   for i = 1, n do
      list[i] = read(memory, i - 1, high, limit)
   end
end

return lists
