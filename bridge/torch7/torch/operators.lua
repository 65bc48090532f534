-- Metamethods of classes: each looks for the class's own `__name__` and says what is missing otherwise.
local operators = {}

local binary = {
   __add = 'addition', __sub = 'substraction', __mul = 'multiplication', __div = 'division', __mod = 'modulo',
   __pow = 'power', __concat = 'concat', __lt = 'less-than', __le = 'less-equal'
}
local unary = {__unm = 'negation', __len = 'length', __call = 'call'}

-- The metatable that decides about an operator: the first operand's, if it has any, a string's too; else the second's.
local function deciding(names, a, b)
   local metatable = getmetatable(a)
   if names[metatable] then
      return metatable
   end
   return debug.getmetatable(a) or debug.getmetatable(b)
end

-- One set of dispatching functions serves every class of a registry.
local function dispatchers(names)
   local functions = {}
   local function typename(object)
      return names[getmetatable(object)] or '(null)'
   end
   for name, word in pairs(binary) do
      local twin = name .. '__'
      functions[name] = function(a, b)
         local f = deciding(names, a, b)[twin]
         if f == nil then
            error(string.format('both %s and %s have no %s operator', typename(a), typename(b), word), 2)
         end
         return f(a, b)
      end
   end
   for name, word in pairs(unary) do
      local twin = name .. '__'
      functions[name] = function(a, ...)
         local f = deciding(names, a)[twin]
         if f == nil then
            error(string.format('%s has no %s operator', typename(a), word), 2)
         end
         return f(a, ...)
      end
   end
   function functions.__eq(a, b)
      local f = deciding(names, a, b).__eq__
      if f ~= nil then
         return f(a, b)
      end
      return rawequal(a, b)
   end
   function functions.__tostring(a)
      local f = deciding(names, a).__tostring__
      if f ~= nil then
         return f(a)
      end
      return typename(a)
   end
   return functions
end

local made = setmetatable({}, {__mode = 'k'}) -- registry of names -> its dispatchers

-- Put the dispatching metamethods into a class; what it already has stays.
function operators.install(metatable, names)
   local functions = made[names]
   if not functions then
      functions = dispatchers(names)
      made[names] = functions
   end
   for name, f in pairs(functions) do
      if rawget(metatable, name) == nil then
         rawset(metatable, name, f)
      end
   end
end

-- A class that looks for methods in its parent, or gets one, comes here too: handlers are for instances.
local function isclass(object)
   return type(object) == 'table' and rawget(object, '__typename') ~= nil
end

local function index(metatable)
   return function(object, key)
      if not isclass(object) then
         local value, found = metatable.__index__(object, key)
         if found then
            return value
         end
      end
      return metatable[key]
   end
end

local function newindex(metatable, typename)
   return function(object, key, value)
      if not isclass(object) and metatable.__newindex__(object, key, value) then
         return
      end
      if type(object) ~= 'table' then
         error(string.format('the class %s cannot be indexed', typename), 2)
      end
      rawset(object, key, value)
   end
end

-- Called before an instance is made: a class with `__index__` or `__newindex__` (its own or inherited) needs
-- functions where others have the class itself, or rawset.
function operators.refresh(metatable)
   if metatable.__index__ ~= nil and rawget(metatable, '__index') == metatable then
      rawset(metatable, '__index', index(metatable))
   end
   if metatable.__newindex__ ~= nil and rawget(metatable, '__newindex') == rawset then
      rawset(metatable, '__newindex', newindex(metatable, metatable.__typename))
   end
end

return operators
