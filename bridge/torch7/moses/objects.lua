-- What values are, and tables as objects.
local moses = require 'moses'

-- ---- what a value is

for _, name in ipairs{'table', 'string', 'function', 'number', 'boolean', 'nil'} do
   moses['is' .. name:sub(1, 1):upper() .. name:sub(2)] = function(value)
      return type(value) == name
   end
end

function moses.isCallable(value)
   local metatable = type(value) == 'table' and getmetatable(value)
   return type(value) == 'function' or type(metatable) == 'table' and metatable.__call ~= nil
end

-- A table whose keys are 1, 2, 3 ...
function moses.isArray(value)
   if type(value) ~= 'table' then
      return false
   end
   local count = 0
   for _ in pairs(value) do
      count = count + 1
      if value[count] == nil then
         return false
      end
   end
   return true
end

function moses.isIterable(value)
   return value ~= nil and (pcall(pairs, value))
end

function moses.isEmpty(value)
   if type(value) == 'string' then
      return value == ''
   elseif type(value) == 'table' then
      return next(value) == nil
   end
   return true
end

function moses.isNaN(value)
   return type(value) == 'number' and value ~= value
end

function moses.isFinite(value)
   return type(value) == 'number' and value > -math.huge and value < math.huge
end

function moses.isInteger(value)
   return type(value) == 'number' and math.floor(value) == value
end

-- Same value, or tables with the same entries; with `useMt`, __eq of the first one's metatable decides.
function moses.isEqual(a, b, useMt)
   if type(a) ~= type(b) then
      return false
   elseif type(a) ~= 'table' then
      return a == b
   end
   local metatable = getmetatable(a)
   if useMt and metatable and metatable.__eq then
      return a == b
   elseif moses.size(a) ~= moses.size(b) then
      return false
   end
   for key, value in pairs(a) do
      if b[key] == nil or not moses.isEqual(value, b[key], useMt) then
         return false
      end
   end
   return true
end

function moses.toBoolean(value)
   return not not value
end

-- ---- objects

function moses.keys(obj)
   local keys = {}
   for key in pairs(obj) do
      keys[#keys + 1] = key
   end
   return keys
end

function moses.values(obj)
   local values = {}
   for _, value in pairs(obj) do
      values[#values + 1] = value
   end
   return values
end

function moses.kvpairs(obj)
   local list = {}
   for key, value in pairs(obj) do
      list[#list + 1] = {key, value}
   end
   return list
end

function moses.toObj(kvpairs)
   local obj = {}
   for _, pair in ipairs(kvpairs) do
      obj[pair[1]] = pair[2]
   end
   return obj
end

-- A function that reads this key of its argument.
function moses.property(key)
   return function(obj)
      return obj[key]
   end
end

-- A function that reads its argument as a key of `obj`.
function moses.propertyOf(obj)
   return function(key)
      return obj[key]
   end
end

function moses.has(obj, key)
   return obj[key] ~= nil
end

function moses.extend(destination, ...)
   for _, source in pairs{...} do
      if type(source) == 'table' then
         for key, value in pairs(source) do
            destination[key] = value
         end
      end
   end
   return destination
end

-- The names of an object's functions (this library's), with those of its metatable if wanted.
function moses.functions(obj, recurseMt)
   obj = obj or moses
   local names = {}
   for name, value in pairs(obj) do
      if type(value) == 'function' then
         names[#names + 1] = name
      end
   end
   local metatable = recurseMt and getmetatable(obj)
   if metatable and metatable.__index then
      for _, name in ipairs(moses.functions(metatable.__index, recurseMt)) do
         names[#names + 1] = name
      end
   end
   table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
   return names
end

-- A copy, deep unless `shallow`; no metatables.
function moses.clone(obj, shallow)
   if type(obj) ~= 'table' then
      return obj
   end
   local copy = {}
   for key, value in pairs(obj) do
      copy[key] = shallow and value or moses.clone(value)
   end
   return copy
end

function moses.tap(obj, f, ...)
   f(obj, ...)
   return obj
end

-- Only the named entries; names may stand in lists.
function moses.pick(obj, ...)
   local picked = {}
   for _, key in ipairs(moses.flatten{...}) do
      picked[key] = obj[key]
   end
   return picked
end

-- All but the named entries.
function moses.omit(obj, ...)
   local left = moses.clone(obj, true)
   for _, key in ipairs(moses.flatten{...}) do
      left[key] = nil
   end
   return left
end

-- Fill what is missing.
function moses.template(obj, template)
   for key, value in pairs(template or {}) do
      if obj[key] == nil then
         obj[key] = value
      end
   end
   return obj
end

-- What a method gives, or a field holds, or a function makes of the object.
function moses.result(obj, method, ...)
   local found = obj[method]
   if found ~= nil then
      if moses.isCallable(found) then
         return found(obj, ...)
      end
      return found
   elseif moses.isCallable(method) then
      return method(obj, ...)
   end
end
