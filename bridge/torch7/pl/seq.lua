-- Sequences: iterators that are made of each other. A list may stand where an iterator is expected, and
-- seq(iterator) has these functions as methods.
local List = require 'pl.List'
local utils = require 'pl.utils'

local seq = {}
local call = utils.function_arg

-- An iterator over a list's elements; an iterator stays itself.
function seq.list(source)
   if source == nil then
      return function() return nil end
   elseif type(source) ~= 'table' or getmetatable(source) and getmetatable(source).__call then
      return source
   end
   local i = 0
   return function()
      i = i + 1
      return source[i]
   end
end
seq.iter = seq.list
local iterate = seq.list

function seq.keys(object)
   local key
   return function()
      key = next(object, key)
      return key
   end
end

function seq.range(first, last)
   local i = first - 1
   return function()
      if i < last then
         i = i + 1
         return i
      end
   end
end

-- ---- to values

function seq.copy(source)
   local list = List()
   for value in iterate(source) do
      list:append(value)
   end
   return list
end

-- Pairs, or tuples, as a list of lists.
function seq.copy2(source)
   local list = {}
   for a, b in iterate(source) do
      list[#list + 1] = {a, b}
   end
   return list
end

function seq.copy_tuples(source)
   source = iterate(source)
   local list = {}
   local row = {source()}
   while row[1] ~= nil do
      list[#list + 1] = row
      row = {source()}
   end
   return list
end

-- The sum (of what f makes of the values), and how many there were.
function seq.sum(source, f)
   f = f and call(1, f)
   local sum, n = 0, 0
   for value in iterate(source) do
      sum, n = sum + (f and f(value) or not f and value), n + 1
   end
   return sum, n
end

function seq.minmax(source)
   local smallest, largest = math.huge, -math.huge
   for value in iterate(source) do
      smallest, largest = math.min(smallest, value), math.max(largest, value)
   end
   return smallest, largest
end

function seq.reduce(f, source, first)
   f = call(1, f)
   source = iterate(source)
   local result = first
   if result == nil then
      result = source()
   end
   for value in source do
      result = f(result, value)
   end
   return result
end

function seq.count(source, test, argument)
   test = call(2, test)
   local n = 0
   for value in iterate(source) do
      if test(value, argument) then
         n = n + 1
      end
   end
   return n
end

function seq.count_map(source)
   local counts = {}
   for value in iterate(source) do
      counts[value] = (counts[value] or 0) + 1
   end
   return setmetatable(counts, require 'pl.Map')
end

function seq.foreach(source, f)
   f = call(1, f)
   for value in iterate(source) do
      f(value)
   end
end

function seq.printall(source, separator, columns, format)
   separator, columns = separator or ' ', columns or 7
   local n = 0
   for value in iterate(source) do
      io.write(format and call(4, format)(value) or tostring(value), (n + 1) % columns == 0 and '\n' or separator)
      n = n + 1
   end
   io.write('\n')
end

-- ---- to sequences

function seq.map(f, source, argument)
   f = call(1, f)
   source = iterate(source)
   return function()
      local value = source()
      if value ~= nil then
         return f(value, argument)
      end
   end
end

function seq.mapmethod(source, name, ...)
   local arguments = {...}
   return seq.map(function(object) return object[name](object, unpack(arguments)) end, source)
end

function seq.filter(source, test, argument)
   test = call(2, test)
   source = iterate(source)
   return function()
      local value
      repeat
         value = source()
      until value == nil or test(value, argument)
      return value
   end
end

-- Positions and values.
function seq.enum(source)
   source = iterate(source)
   local i = 0
   return function()
      local value = source()
      if value ~= nil then
         i = i + 1
         return i, value
      end
   end
end

function seq.zip(a, b)
   a, b = iterate(a), iterate(b)
   return function()
      return a(), b()
   end
end

function seq.splice(...)
   local sources = {...}
   for i = 1, #sources do
      sources[i] = iterate(sources[i])
   end
   local i = 1
   return function()
      while sources[i] do
         local value = sources[i]()
         if value ~= nil then
            return value
         end
         i = i + 1
      end
   end
end

function seq.take(source, n)
   source = iterate(source)
   local i = 0
   return function()
      i = i + 1
      if i <= n then
         return source()
      end
   end
end

function seq.skip(source, n)
   source = iterate(source)
   for _ = 1, n do
      if source() == nil then
         return iterate(nil)
      end
   end
   return source
end

-- Each value with the one before it.
function seq.last(source)
   source = iterate(source)
   local before = source()
   return function()
      local value = source()
      if value ~= nil then
         local previous = before
         before = value
         return value, previous
      end
   end
end

function seq.sort(source, order)
   return iterate(seq.copy(source):sort(order))
end

-- The values without repetition (as an iterator), in the order in which they came; a list with `aslist`.
function seq.unique(source, aslist)
   local seen = {}
   local list = List()
   for value in iterate(source) do
      if not seen[value] then
         seen[value] = true
         list:append(value)
      end
   end
   return aslist and list or iterate(list)
end

-- n random numbers, from 0 to 1 or from `low` to `high`.
function seq.random(n, low, high)
   local left = n
   return function()
      if left > 0 then
         left = left - 1
         if low then
            return math.random(low, high)
         end
         return math.random()
      end
   end
end

function seq.lines(file, ...)
   return (type(file) == 'string' and io.lines or file.lines)(file, ...)
end

-- ---- tests

function seq.equal_to(x)
   return function(value) return value == x end
end

function seq.greater_than(x)
   return function(value) return value > x end
end

function seq.less_than(x)
   return function(value) return value < x end
end

function seq.matching(pattern)
   return function(value) return tostring(value):find(pattern) ~= nil end
end

-- ---- methods

local sequences = {map = true, filter = true, zip = true, enum = true, splice = true, take = true, skip = true,
   last = true, sort = true, unique = true, mapmethod = true}
local functionfirst = {map = true, reduce = true}
local Sequence = {}

-- An object that is called as the iterator is, and has the functions above as methods.
local function wrap(source)
   return setmetatable({source = iterate(source)}, Sequence)
end

function Sequence:__call()
   return self.source()
end

function Sequence.__index(_, name)
   local f = seq[name]
   if not f then
      return nil
   end
   return function(self, first, ...)
      if functionfirst[name] then
         first, self = self.source, first
      else
         self = self.source
      end
      if sequences[name] then
         return wrap((f(self, first, ...)))
      end
      return f(self, first, ...)
   end
end

return setmetatable(seq, {__call = function(_, source, f)
   return wrap(f and seq.map(f, source) or source)
end})
