-- One function that runs in the background.
local BackgroundTaskPool = require 'ipc.BackgroundTaskPool'

return function(f, ...)
   local pool = BackgroundTaskPool(1, {closeOnLastTask = true})
   local id = pool.addTask(f, ...)
   return {
      isDone = pool.isDone,
      getResult = function()
         return pool.getResult(id)
      end,
   }
end
