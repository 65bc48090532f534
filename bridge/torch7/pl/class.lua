-- Classes: `class(base)`, `class.Name(base)` (a global, and its name), `class{_base = base, method = ...}`.
local class = {}

local function is_a(self, kind)
   if kind == nil then
      return getmetatable(self)
   end
   local metatable = getmetatable(self)
   while metatable do
      if rawequal(metatable, kind) then
         return true
      end
      metatable = rawget(metatable, '_base')
   end
   return false
end

-- `_init` of the nearest parent that has one, as `self:super(...)`.
local function construct(kind, object, ...)
   local init = rawget(kind, '_init')
   if not init then
      local base = rawget(kind, '_base')
      if base then
         return construct(base, object, ...)
      end
      return nil
   end
   local before = rawget(object, 'super')
   local base = rawget(kind, '_base')
   rawset(object, 'super', base and function(self, ...) return construct(base, self, ...) end or nil)
   local replaced = init(object, ...)
   rawset(object, 'super', before)
   return replaced
end

local function default_tostring(object)
   local metatable = getmetatable(object)
   local name = metatable._name
   setmetatable(object, nil)
   local text = tostring(object)
   setmetatable(object, metatable)
   return name and name .. text:gsub('table', '') or text
end

-- What a class answers when it is asked for what it has not: `handler`, a function or a table.
local function catch(kind, handler)
   if type(handler) == 'function' then
      local inner = handler
      handler = function(self, key)
         local value = kind[key]
         if value == nil then
            return inner(self, key)
         end
         return value
      end
   elseif handler then
      setmetatable(kind, setmetatable({__index = handler}, {__index = getmetatable(kind)}))
      handler = kind
   end
   kind.__index = handler or kind
end

local function define(base, fields, name)
   local kind = {}
   for key, value in pairs(base or {}) do -- inherit: methods and metamethods are the class's own
      if key ~= '_init' and key ~= '_name' and key ~= '_handler' then
         kind[key] = value
      end
   end
   for key, value in pairs(fields or {}) do
      kind[key] = value
   end
   if base and rawget(base, '__index') ~= base and type(rawget(base, '__index')) == 'function' then
      local inherited = base._handler
      if inherited then
         catch(kind, inherited)
         kind._handler = inherited
      end
   else
      kind.__index = kind
   end
   kind._base, kind._class, kind._name = base, kind, name
   kind.is_a = is_a
   kind.__tostring = kind.__tostring or default_tostring
   kind.class_of = function(self, object)
      return type(object) == 'table' and is_a(object, self)
   end
   kind.cast = function(self, object)
      return setmetatable(object or self, kind)
   end
   kind.catch = function(self, handler)
      if type(self) == 'function' or handler == nil then
         handler = self
      end
      kind._handler = handler
      catch(kind, handler)
   end
   return setmetatable(kind, {__call = function(_, ...)
      local object = setmetatable({}, kind)
      if rawget(kind, '_create') then
         object = setmetatable(kind._create(...), kind)
      end
      local replaced = construct(kind, object, ...)
      if replaced ~= nil then -- a constructor may return the object to use
         object = setmetatable(replaced, kind)
      end
      return object
   end})
end

-- A class whose fields are read through `get_x` and written through `set_x` where there are such.
function class.properties(fields)
   local kind = define(fields and fields._base, nil, nil)
   for key, value in pairs(fields or {}) do
      if key ~= '_base' then
         kind[key] = value
      end
   end
   kind.__index = function(self, key)
      local value = kind[key]
      if value == nil then
         local get = type(key) == 'string' and kind['get_' .. key]
         if get then
            return get(self)
         end
         return rawget(self, '_' .. tostring(key))
      end
      return value
   end
   kind.__newindex = function(self, key, value)
      local set = type(key) == 'string' and kind['set_' .. key]
      if set then
         set(self, value)
      else
         rawset(self, key, value)
      end
   end
   return kind
end

local function from(argument, name)
   if type(argument) == 'table' and not rawget(argument, '_class') then
      local base = argument._base
      argument._base = nil
      return define(base, argument, name)
   end
   return define(argument, nil, name)
end

return setmetatable(class, {
   __call = function(_, argument, fields)
      if fields then
         return define(argument, fields)
      end
      return from(argument)
   end,
   __index = function(_, name)
      return function(argument)
         local kind = from(argument, name)
         rawset(_G, name, kind)
         return kind
      end
   end,
})
