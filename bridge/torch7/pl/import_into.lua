-- Penlight's modules as fields of a table, each loaded when its name is first read: of `env`, or of a new table.
local modules = {}
for name in ([[utils compat types path dir file stringx tablex operator class List Map Set OrderedMap pretty lapp app
      seq strict data text template]]):gmatch('%S+') do
   modules[name] = 'pl.' .. name
end

return function(env)
   env = env or {}
   local metatable = getmetatable(env) or {}
   local before = metatable.__index

   function metatable.__index(fields, name)
      local module = modules[name]
      if module then
         local loaded = require(module)
         rawset(fields, name, loaded)
         return loaded
      elseif type(before) == 'function' then
         return before(fields, name)
      elseif before then
         return before[name]
      end
   end

   return setmetatable(env, metatable)
end
