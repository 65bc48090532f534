-- cjson whose encode and decode return nil and the message in place of an error.
local cjson = require 'cjson'

local function answer(ok, ...)
   if ok then
      return ...
   end
   return nil, ...
end

local function new()
   local safe = cjson.new()
   safe.new = new
   for _, name in ipairs{'decode', 'encode'} do
      local raising = safe[name]
      safe[name] = function(...)
         if select('#', ...) ~= 1 then
            error(string.format("bad argument #1 to '%s' (expected 1 argument)", name), 2)
         end
         return answer(pcall(raising, ...))
      end
   end
   return safe
end

return new()
