-- Tables with any keys. Callbacks are f(key, value, ...).
local moses = require 'moses'

function moses.clear(t)
   for key in pairs(t) do
      t[key] = nil
   end
   return t
end

function moses.each(t, f, ...)
   for key, value in pairs(t) do
      f(key, value, ...)
   end
end

-- In the order of the keys, which are whole numbers; others are left out.
function moses.eachi(t, f, ...)
   local keys = {}
   for key in pairs(t) do
      if moses.isInteger(key) then
         keys[#keys + 1] = key
      end
   end
   table.sort(keys)
   for _, key in ipairs(keys) do
      f(key, t[key], ...)
   end
end

-- The values at these keys, as a list.
function moses.at(t, ...)
   local values = {}
   for _, key in ipairs{...} do
      values[#values + 1] = t[key]
   end
   return values
end

-- How many values there are, or are equal to one.
function moses.count(t, value)
   local count = 0
   for _, found in pairs(t) do
      if value == nil or moses.isEqual(found, value) then
         count = count + 1
      end
   end
   return count
end

function moses.countf(t, f, ...)
   local count = 0
   for key, value in pairs(t) do
      count = count + (f(key, value, ...) and 1 or 0)
   end
   return count
end

-- An iterator over all entries, n times (1).
function moses.cycle(t, n)
   n = n or 1
   local key, rounds = nil, 0
   return function()
      local value
      while rounds < n do
         key, value = next(t, key)
         if key ~= nil then
            return key, value
         end
         rounds = next(t) == nil and n or rounds + 1
      end
   end
end

function moses.map(t, f, ...)
   local mapped = {}
   for key, value in pairs(t) do
      mapped[key] = f(key, value, ...)
   end
   return mapped
end

-- f(state, value) over all values; without a state the first value is it.
function moses.reduce(t, f, state)
   for _, value in pairs(t) do
      if state == nil then
         state = value
      else
         state = f(state, value)
      end
   end
   return state
end

function moses.reduceRight(t, f, state)
   return moses.reduce(moses.reverse(t), f, state)
end

-- The states that reduce goes through, at the keys.
function moses.mapReduce(t, f, state)
   local states = {}
   for key, value in pairs(t) do
      if state == nil then
         state = value
      else
         state = f(state, value)
      end
      states[key] = state
   end
   return states
end

function moses.mapReduceRight(t, f, state)
   return moses.mapReduce(moses.reverse(t), f, state)
end

-- The key of a value, or of the first for which a function is true.
function moses.detect(t, value)
   local test = type(value) == 'function' and value or moses.isEqual
   for key, found in pairs(t) do
      if test(found, value) then
         return key
      end
   end
end

function moses.include(t, value)
   return moses.detect(t, value) ~= nil
end

local function fits(value, props)
   for key, wanted in pairs(props) do
      if value[key] ~= wanted then
         return false
      end
   end
   return true
end

-- The tables that have these entries; nothing if there are none.
function moses.where(t, props)
   local found = moses.select(t, function(_, value) return fits(value, props) end)
   return #found > 0 and found or nil
end

function moses.findWhere(t, props)
   local key = moses.detect(t, function(value) return fits(value, props) end)
   return key ~= nil and t[key] or nil
end

-- A list of the values for which f is true.
function moses.select(t, f, ...)
   local selected = {}
   for key, value in pairs(t) do
      if f(key, value, ...) then
         selected[#selected + 1] = value
      end
   end
   return selected
end

function moses.reject(t, f, ...)
   local left = {}
   for key, value in pairs(t) do
      if not f(key, value, ...) then
         left[#left + 1] = value
      end
   end
   return left
end

function moses.all(t, f, ...)
   for key, value in pairs(t) do
      if not f(key, value, ...) then
         return false
      end
   end
   return true
end

-- Call a method, or a function, of each value.
function moses.invoke(t, method, ...)
   local results = {}
   for key, value in pairs(t) do
      local own = type(value) == 'table' and value[method]
      if own and moses.isCallable(own) then
         results[key] = own(value, ...)
      elseif own then
         results[key] = own
      elseif moses.isCallable(method) then
         results[key] = method(value, ...)
      end
   end
   return results
end

-- What the values have at a key, as a list.
function moses.pluck(t, property)
   local found = {}
   for _, value in pairs(t) do
      if value[property] ~= nil then
         found[#found + 1] = value[property]
      end
   end
   return found
end

local function extreme(beats)
   return function(t, transform, ...)
      local best
      for _, value in pairs(t) do
         if transform then
            value = transform(value, ...)
         end
         if best == nil or beats(value, best) then
            best = value
         end
      end
      return best
   end
end

moses.max = extreme(function(a, b) return a > b end)
moses.min = extreme(function(a, b) return a < b end)

function moses.shuffle(t, seed)
   if seed then
      math.randomseed(seed)
   end
   local shuffled = {}
   for _, value in pairs(t) do
      local place = math.random(#shuffled + 1)
      shuffled[#shuffled + 1] = shuffled[place]
      shuffled[place] = value
   end
   return shuffled
end

-- Have both the same values, in any order?
function moses.same(a, b)
   local function holds(t, other)
      return moses.all(t, function(_, value) return moses.include(other, value) end)
   end
   return holds(a, b) and holds(b, a)
end

function moses.sort(t, comp)
   table.sort(t, comp)
   return t
end

-- Sort by what a function makes of the values, or by a field.
function moses.sortBy(t, transform, comp)
   local field = type(transform) == 'string' and transform
   local f = field and function(value) return value[field] end or transform or moses.identity
   comp = comp or function(a, b) return a < b end
   table.sort(t, function(a, b) return comp(f(a), f(b)) end)
   return t
end

-- Lists of the values for which f gives the same.
function moses.groupBy(t, f, ...)
   local groups = {}
   for key, value in pairs(t) do
      local name = f(key, value, ...)
      groups[name] = groups[name] or {}
      table.insert(groups[name], value)
   end
   return groups
end

function moses.countBy(t, f, ...)
   local counts = {}
   for key, value in pairs(t) do
      local name = f(key, value, ...)
      counts[name] = (counts[name] or 0) + 1
   end
   return counts
end

-- How many entries a table has; of other arguments, how many there are.
function moses.size(...)
   local first = ...
   return moses.count(type(first) == 'table' and first or {...})
end

function moses.containsKeys(t, other)
   for key in pairs(other) do
      if t[key] == nil then
         return false
      end
   end
   return true
end

function moses.sameKeys(a, b)
   return moses.containsKeys(a, b) and moses.containsKeys(b, a)
end
