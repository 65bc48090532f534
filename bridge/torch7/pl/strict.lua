-- Undeclared globals become errors: a global is declared by assigning to it in a main chunk, or by `global`.
local strict = {}

local function where()
   local info = debug.getinfo(3, 'S')
   return info and info.what or 'C'
end

-- A table (a new one) whose unknown fields are errors.
function strict.module(name, module, predeclared)
   if predeclared == nil and type(name) == 'table' then
      name, module, predeclared = nil, name, module
   end
   module = module or {}
   local declared = {}
   for key in pairs(predeclared or {}) do
      declared[key] = true
   end
   local metatable = getmetatable(module) or {}
   local before = metatable.__index

   function metatable.__newindex(object, key, value)
      declared[key] = true
      rawset(object, key, value)
   end

   function metatable.__index(object, key)
      local value
      if type(before) == 'function' then
         value = before(object, key)
      elseif before then
         value = before[key]
      end
      if value ~= nil or declared[key] then
         return value
      end
      error(("variable '%s' is not declared%s"):format(tostring(key), name and " in '" .. name .. "'" or ''), 2)
   end

   return setmetatable(module, metatable)
end

-- All the tables in a table.
function strict.make_all_strict(object)
   for key, value in pairs(object) do
      if type(value) == 'table' and value ~= object then
         strict.module(tostring(key), value)
      end
   end
end

-- A module that cannot be written any more, and whose unknown fields are errors.
function strict.closed_module(module, name)
   return setmetatable({}, {
      __index = function(_, key)
         local value = module[key]
         if value == nil then
            error(("variable '%s' is not declared in '%s'"):format(tostring(key), name), 2)
         end
         return value
      end,
      __newindex = function(_, key)
         error(("variable '%s' is not declared in '%s'"):format(tostring(key), name), 2)
      end,
   })
end

-- The globals.
local metatable = getmetatable(_G) or {}
local declared = {}
local before = metatable.__index

function metatable.__newindex(globals, key, value)
   local what = where()
   if not declared[key] and what ~= 'main' and what ~= 'C' then
      error("assign to undeclared variable '" .. tostring(key) .. "'", 2)
   end
   declared[key] = true
   rawset(globals, key, value)
end

function metatable.__index(globals, key)
   local value
   if type(before) == 'function' then
      value = before(globals, key)
   elseif before then
      value = before[key]
   end
   if value == nil and not declared[key] and where() ~= 'C' then
      error("variable '" .. tostring(key) .. "' is not declared", 2)
   end
   return value
end

-- Declare globals: global('a', 'b').
rawset(_G, 'global', function(...)
   for i = 1, select('#', ...) do
      declared[(select(i, ...))] = true
   end
end)

setmetatable(_G, metatable)

return strict
