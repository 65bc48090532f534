-- Penlight: `require 'pl'` makes each of its modules a global, loaded when its name is first read.
local modules = {}
for name in ([[utils compat types path dir file stringx tablex operator class List Map Set OrderedMap pretty lapp app
      seq strict data text template]]):gmatch('%S+') do
   modules[name] = 'pl.' .. name
end

local metatable = getmetatable(_G) or {}
local before = metatable.__index

function metatable.__index(globals, name)
   local module = modules[name]
   if module then
      local loaded = require(module)
      rawset(globals, name, loaded)
      return loaded
   elseif type(before) == 'function' then
      return before(globals, name)
   elseif before then
      return before[name]
   end
end

setmetatable(_G, metatable)

return {}
