-- The rock moses: functions on tables, lists, functions and objects, named as in version 1.6, which Torch7's packages
-- of its time use. Callbacks get the key first, then the value.
--
-- moses(value), or moses.chain(value), wraps a value: its methods are these functions with the value as first argument,
-- each gives a wrapped result, and value() unwraps it.
local moses = {_VERSION = 'Moses v1.6.1'}

package.loaded.moses = moses

for _, name in ipairs{'objects', 'tables', 'lists', 'parts', 'sets', 'functions'} do
   require('moses.' .. name)
end

local aliases = {
   each = {'forEach'}, eachi = {'forEachi'}, map = {'collect'}, reduce = {'inject', 'foldl'},
   reduceRight = {'injectr', 'foldr'}, mapReduce = {'mapr'}, mapReduceRight = {'maprr'},
   include = {'any', 'some', 'contains'}, select = {'filter'}, reject = {'discard'}, all = {'every'},
   selectWhile = {'takeWhile'}, dropWhile = {'rejectWhile'}, pop = {'shift'}, pull = {'remove'},
   removeRange = {'rmRange', 'chop'}, slice = {'sub'}, first = {'head', 'take'}, rest = {'tail'},
   difference = {'without', 'diff'}, symmetricDifference = {'symdiff', 'xor'}, unique = {'uniq'},
   isunique = {'isuniq'}, zip = {'transpose'}, partition = {'part'}, permutation = {'perm'}, invert = {'mirror'},
   concat = {'join'}, memoize = {'cache'}, juxtapose = {'juxt'}, uniqueId = {'uid'}, iterator = {'iter'},
   functions = {'methods'}, pick = {'choose'}, omit = {'drop'}, template = {'defaults'}, isEqual = {'compare'},
}
for name, others in pairs(aliases) do
   for _, alias in ipairs(others) do
      moses[alias] = moses[name]
   end
end

local Chain = {}

function Chain.__index(_, name)
   local f = moses[name]
   return f and function(wrapped, ...)
      return moses.chain(f(wrapped._wrapped, ...))
   end
end

local function unwrap(wrapped)
   return wrapped._wrapped
end

function moses.chain(value)
   return setmetatable({_wrapped = value, value = unwrap}, Chain)
end

-- Put all functions into a table (the globals); with `noConflict`, those whose names are free there.
function moses.import(context, noConflict)
   context = context or _G
   for name, f in pairs(moses) do
      if type(f) == 'function' and not (noConflict and rawget(context, name) ~= nil) then
         context[name] = f
      end
   end
   return context
end

return setmetatable(moses, {__call = function(_, value) return moses.chain(value) end})
