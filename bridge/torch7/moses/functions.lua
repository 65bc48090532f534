-- Functions made of functions.
local moses = require 'moses'

function moses.noop()
end

function moses.identity(value)
   return value
end

function moses.constant(value)
   return function() return value end
end

-- A function that remembers its results by its first argument, or by what `hash` makes of the arguments.
function moses.memoize(f, hash)
   local results = setmetatable({}, {__mode = 'kv'})
   hash = hash or moses.identity
   return function(...)
      local key = hash(...)
      local result = results[key]
      if result == nil then
         result = f(...)
         results[key] = result
      end
      return result
   end
end

-- A function that runs at most `count` times, and gives its last results from then on.
function moses.before(f, count)
   local calls, results = 0, {}
   return function(...)
      calls = calls + 1
      if calls <= count then
         results = {f(...)}
      end
      return unpack(results)
   end
end

-- A function that runs once, with the arguments of its first call.
function moses.once(f)
   return moses.before(f, 1)
end

-- A function that runs from its call number `count` on.
function moses.after(f, count)
   local calls = 0
   return function(...)
      calls = calls + 1
      if calls >= count then
         return f(...)
      end
   end
end

-- f(g(h(...)))
function moses.compose(...)
   local list = moses.reverse{...}
   return function(...)
      local values = {...}
      for _, f in ipairs(list) do
         values = {f(unpack(values))}
      end
      return unpack(values)
   end
end

-- h(g(f(value)))
function moses.pipe(value, ...)
   return moses.compose(unpack(moses.reverse{...}))(value)
end

function moses.complement(f)
   return function(...)
      return not f(...)
   end
end

-- What each function makes of a value, one result after the other.
function moses.juxtapose(value, ...)
   local results = {}
   for i, f in ipairs{...} do
      results[i] = f(value)
   end
   return unpack(results)
end

-- wrapper(f, ...)
function moses.wrap(f, wrapper)
   return function(...)
      return wrapper(f, ...)
   end
end

function moses.times(n, f, ...)
   local results = {}
   for i = 1, n do
      results[i] = f(i, ...)
   end
   return results
end

-- ---- arguments

function moses.bind(f, v)
   return function(...)
      return f(v, ...)
   end
end

function moses.bind2(f, v)
   return function(first, ...)
      return f(first, v, ...)
   end
end

local function joined(first, ...)
   local list, n = {unpack(first, 1, first.n)}, first.n
   for i = 1, select('#', ...) do
      list[n + i] = (select(i, ...))
   end
   return list, n + select('#', ...)
end

function moses.bindn(f, ...)
   local bound = {n = select('#', ...), ...}
   return function(...)
      local list, n = joined(bound, ...)
      return f(unpack(list, 1, n))
   end
end

-- Let methods have their object as first argument.
function moses.bindAll(obj, ...)
   for _, name in ipairs{...} do
      local method = obj[name]
      if method then
         obj[name] = moses.bind(method, obj)
      end
   end
   return obj
end

function moses.flip(f)
   return function(...)
      return f(unpack(moses.reverse{...}))
   end
end

-- Arguments come first, in the places of '_' those of the call.
function moses.partial(f, ...)
   local bound = {n = select('#', ...), ...}
   return function(...)
      local list, given, used = {}, {...}, 0
      for i = 1, bound.n do
         list[i] = bound[i]
         if bound[i] == '_' then
            used = used + 1
            list[i] = given[used]
         end
      end
      for i = used + 1, #given do
         list[bound.n + i - used] = given[i]
      end
      return f(unpack(list, 1, bound.n + #given - used))
   end
end

-- Arguments come last, in the places of '_' those of the call.
function moses.partialRight(f, ...)
   local bound = {...}
   return function(...)
      local given, used = {...}, 0
      local last = moses.map(bound, function(_, value)
         if value == '_' then
            used = used + 1
            return given[used]
         end
         return value
      end)
      return f(unpack(moses.append(moses.slice(given, used + 1), last)))
   end
end

-- A function that takes its arguments (2) one at a time.
function moses.curry(f, count)
   count = count or 2
   local function collect(list)
      return function(value)
         local all = moses.append(list, {value})
         if #all >= count then
            return f(unpack(all))
         end
         return collect(all)
      end
   end
   return collect{}
end

-- ---- several functions

function moses.over(...)
   local list = {...}
   return function(...)
      local results = {}
      for i, f in ipairs(list) do
         results[i] = f(...)
      end
      return results
   end
end

function moses.overEvery(...)
   local all = moses.over(...)
   return function(...)
      return moses.all(all(...), function(_, result) return result end)
   end
end

function moses.overSome(...)
   local all = moses.over(...)
   return function(...)
      return not moses.all(all(...), function(_, result) return not result end)
   end
end

-- f of what each function makes of its argument.
function moses.overArgs(f, ...)
   local list = {...}
   return function(...)
      local values = {...}
      for i, transform in ipairs(list) do
         if values[i] ~= nil then
            values[i] = transform(values[i])
         end
      end
      return f(unpack(values))
   end
end

-- ---- the rest

local last = -1

-- A number that no call before gave; in the format of a text, or as a function makes it.
function moses.uniqueId(template, ...)
   last = last + 1
   if type(template) == 'string' then
      return template:format(last)
   elseif type(template) == 'function' then
      return template(last, ...)
   end
   return last
end

-- f(x), f(f(x)), ...
function moses.iterator(f, x)
   return function()
      x = f(x)
      return x
   end
end

-- What an iterator gives, as a list.
function moses.array(...)
   local list = {}
   for value in ... do
      list[#list + 1] = value
   end
   return list
end

-- How many seconds of processor time a call takes, and its results.
function moses.time(f, ...)
   local start = os.clock()
   local results = {f(...)}
   return os.clock() - start, unpack(results)
end
