-- The class package: classes without torch. class('Dog', 'Animal') makes one; calling what it returns makes objects.
local env = require 'argcheck.env'

local class = {}
local metatables = {} -- name -> metatable

local function known(name, what)
   if type(name) ~= 'string' then
      error(string.format('class.%s: expected the name of a class, got %s', what, type(name)), 3)
   end
   return metatables[name]
end

-- What programs hold as the class: calls make objects, fields are those of the metatable.
local function constructor(metatable, make)
   return setmetatable({}, {
      __index = metatable,
      __newindex = metatable,
      __metatable = metatable,
      __call = function(_, ...)
         return make(...)
      end,
   })
end

-- A new class, and its parent if it has one.
function class.new(name, parentname)
   if known(name, 'new') then
      error(string.format('class <%s> already exists', name), 2)
   end
   local parent
   if parentname ~= nil then
      parent = known(parentname, 'new') or error(string.format('parent class <%s> does not exist', parentname), 2)
   end
   local metatable = setmetatable({__typename = name, __version = 1}, parent)
   metatable.__index = metatable
   if not parent then
      metatable.__init = function() end
   end
   function metatable.new(...)
      local object = setmetatable({}, metatable)
      object:__init(...)
      return object
   end
   metatables[name] = metatable
   return constructor(metatable, metatable.new), parent
end

-- An object of a class whose __init is not called.
function class.factory(name)
   local metatable = known(name, 'factory') or error(string.format('unknown class <%s>', name), 2)
   return setmetatable({}, metatable)
end

function class.metatable(name)
   return known(name, 'metatable')
end

-- Something to call for new objects: by a function of the metatable ('new'), or by any function.
function class.constructor(metatable, make)
   if type(make) ~= 'function' then
      local name = make or 'new'
      make = metatable[name] or error(string.format('constructor <%s> does not exist in metatable', name), 2)
   end
   return constructor(metatable, make)
end

function class.type(object)
   local metatable = type(object) == 'table' and getmetatable(object)
   return metatable and rawget(metatable, '__typename') or type(object)
end

-- Is the object of a class, or of one that inherits from it? Other types have the names that Lua and torch give them.
local others = env.istype

function class.istype(object, typename)
   local metatable = type(object) == 'table' and getmetatable(object)
   if metatable and metatables[rawget(metatable, '__typename')] == metatable then
      while type(metatable) == 'table' do
         if rawget(metatable, '__typename') == typename then
            return true
         end
         metatable = getmetatable(metatable)
      end
      return false
   end
   return others(object, typename)
end

env.istype = class.istype -- argcheck's rules can ask for these classes too

return setmetatable(class, {__call = function(_, ...)
   return class.new(...)
end})
