-- Functions that go to other threads bring their upvalues, which may be whole packages. So they may have some only
-- where a program says that it wants this.
local torch = require 'torch'

local function walk(value, seen, way)
   if type(value) == 'function' then
      local info = debug.getinfo(value, 'Su')
      if info.nups > 0 then
         error(string.format("attempt to send the closure '%s:%d' with %d upvalues, the first of which is '%s': %s",
            info.short_src, info.linedefined, info.nups, (debug.getupvalue(value, 1)), way), 0)
      end
   elseif type(value) == 'table' and not seen[value] and not torch.typename(value) then
      seen[value] = true
      for key, each in next, value do
         walk(key, seen, way)
         walk(each, seen, way)
      end
   end
end

-- An error if there is a function with upvalues among the arguments, or in tables among them; `way` tells the way out.
return function(way, ...)
   for i = 1, select('#', ...) do
      walk((select(i, ...)), {}, way)
   end
end
