-- Lists: tables with the keys 1, 2, 3 ... Callbacks are f(index, value, ...).
local moses = require 'moses'

function moses.toArray(...)
   return {...}
end

-- n values (1) by chance.
function moses.sample(array, n, seed)
   n = n or 1
   return n >= 1 and moses.slice(moses.shuffle(array, seed), 1, n) or nil
end

-- Each value with a probability.
function moses.sampleProb(array, prob, seed)
   if seed then
      math.randomseed(seed)
   end
   return moses.select(array, function() return math.random() < prob end)
end

function moses.find(array, value, from)
   for i = from or 1, #array do
      if moses.isEqual(array[i], value) then
         return i
      end
   end
end

function moses.reverse(array)
   local reversed = {}
   for i = #array, 1, -1 do
      reversed[#reversed + 1] = array[i]
   end
   return reversed
end

-- Put a value at the places i to j (all).
function moses.fill(array, value, i, j)
   for place = i or 1, j or #array do
      array[place] = value
   end
   return array
end

-- How many values stand in front of the first for which f is not true.
local function leading(array, f, ...)
   for i = 1, #array do
      if not f(i, array[i], ...) then
         return i - 1
      end
   end
   return #array
end

function moses.selectWhile(array, f, ...)
   return moses.slice(array, 1, leading(array, f, ...))
end

function moses.dropWhile(array, f, ...)
   return moses.slice(array, leading(array, f, ...) + 1)
end

-- Where a value belongs in a sorted list.
function moses.sortedIndex(array, value, comp, sort)
   comp = comp or function(a, b) return a < b end
   if sort then
      table.sort(array, comp)
   end
   return leading(array, function(_, found) return comp(found, value) end) + 1
end

function moses.indexOf(array, value)
   return moses.findIndex(array, function(_, found) return found == value end)
end

function moses.lastIndexOf(array, value)
   return moses.findLastIndex(array, function(_, found) return found == value end)
end

function moses.findIndex(array, predicate, ...)
   for i = 1, #array do
      if predicate(i, array[i], ...) then
         return i
      end
   end
end

function moses.findLastIndex(array, predicate, ...)
   for i = #array, 1, -1 do
      if predicate(i, array[i], ...) then
         return i
      end
   end
end

-- ---- changing a list

-- Put values in front, the last one first.
function moses.addTop(array, ...)
   for _, value in ipairs{...} do
      table.insert(array, 1, value)
   end
   return array
end

function moses.push(array, ...)
   for _, value in ipairs{...} do
      array[#array + 1] = value
   end
   return array
end

local function taken(array, n, place)
   local values = {}
   for i = 1, math.min(n or 1, #array) do
      values[i] = table.remove(array, place)
   end
   return unpack(values)
end

-- Take n values (1) away from the front.
function moses.pop(array, n)
   return taken(array, n, 1)
end

-- Take n values (1) away from the end.
function moses.unshift(array, n)
   return taken(array, n)
end

-- Remove values wherever they are.
function moses.pull(array, ...)
   for _, value in ipairs{...} do
      for i = #array, 1, -1 do
         if moses.isEqual(array[i], value) then
            table.remove(array, i)
         end
      end
   end
   return array
end

-- ---- made of lists

function moses.append(array, other)
   return moses.push(moses.clone(array, true), unpack(other))
end

local function flatten(list, array, shallow)
   for _, value in ipairs(array) do
      if type(value) ~= 'table' then
         list[#list + 1] = value
      elseif shallow then
         moses.push(list, unpack(value))
      else
         flatten(list, value)
      end
   end
   return list
end

-- The values of lists in lists; with `shallow`, of one level.
function moses.flatten(array, shallow)
   return flatten({}, array, shallow)
end

-- {{a1, b1}, {a2, b2}} of {a1, a2} and {b1, b2}
function moses.zip(...)
   local zipped, longest = {}, 0
   for _, list in ipairs{...} do
      longest = math.max(longest, #list)
   end
   for i = 1, longest do
      zipped[i] = moses.pluck({...}, i)
   end
   return zipped
end

function moses.interleave(...)
   return moses.flatten(moses.zip(...), true)
end

-- A value between all values.
function moses.interpose(value, array)
   return moses.interleave(array, moses.rep(value, #array - 1))
end

-- Numbers from `start` (0) to `stop`, `step` (1) apart.
function moses.range(...)
   local n, start, stop, step = select('#', ...), ...
   if n == 0 then
      return {}
   elseif n == 1 then
      start, stop = 0, start
   end
   step = step or 1
   local numbers = {}
   local count = step ~= 0 and math.floor((stop - start) / step) or 0
   for i = 0, count > 0 and count or -1 do
      numbers[i + 1] = start + step * i
   end
   return numbers
end

function moses.rep(value, n)
   local copies = {}
   for i = 1, n do
      copies[i] = value
   end
   return copies
end

-- Values as keys, indices as values.
function moses.invert(array)
   local places = {}
   for i, value in pairs(array) do
      places[value] = i
   end
   return places
end

function moses.concat(array, sep, i, j)
   local texts = moses.map(array, function(_, value) return tostring(value) end)
   return table.concat(texts, sep, i or 1, j or #array)
end
