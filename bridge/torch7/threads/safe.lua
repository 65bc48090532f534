-- threads.safe(func [, mutex]): a function that calls `func`, no two threads at the same time.
local Mutex = require 'threads.mutex'

local owned = setmetatable({}, {__mode = 'k'}) -- function -> what frees its mutex when the function is collected

local function freeing(mutex)
   local proxy = newproxy(true)
   getmetatable(proxy).__gc = function()
      mutex:free()
   end
   return proxy
end

return function(func, mutex)
   if type(func) ~= 'function' then
      error('safe: function expected, got ' .. type(func), 2)
   end
   local mine = not mutex and Mutex()
   local id = (mutex or mine):id()
   -- It is sent to other threads as it is: no upvalues but the function and a number.
   local function guarded(...)
      local guard = require('threads.mutex')(id)
      guard:lock()
      return guard:release(pcall(func, ...))
   end
   if mine then
      owned[guarded] = freeing(mine)
   end
   return guarded
end
