-- Threads that run functions in the background. options.closeOnLastTask: they end when the last result is taken.
local map = require 'ipc.map'
local workqueue = require 'ipc.workqueue'

-- What each thread runs; it has no upvalues.
local function work(queue)
   local function answer(id, ok, ...)
      queue:write{id = id, ok = ok, values = {n = select('#', ...), ...}}
   end
   while true do
      local task = queue:read()
      if task == nil then
         return
      end
      answer(task.id, pcall(task.run, unpack(task.arguments, 1, task.arguments.n)))
   end
end

return function(size, options)
   local queue = workqueue()
   local workers = map(size, work, queue)
   local added, finished = 0, 0
   local results = {} -- id -> what came back, until it is taken
   local pool = {}

   local function receive(wait)
      local result = queue:read(not wait)
      if result then
         results[result.id], finished = result, finished + 1
      end
      return result
   end

   -- Is a task (all of them, without an id) done?
   function pool.isDone(id, wait)
      while finished < added and not results[id or 0] and receive(wait) do -- luacheck: ignore 542
      end
      return finished == added or results[id or 0] ~= nil
   end

   -- Have f(...) run in the background; the task's id. f has no upvalues.
   function pool.addTask(f, ...)
      if type(f) ~= 'function' then
         error('addTask: function expected, got ' .. type(f), 2)
      elseif not workers then
         error('addTask: this pool has ended', 2)
      end
      pool.isDone()
      queue:write{id = added + 1, run = f, arguments = {n = select('#', ...), ...}}
      added = added + 1
      return added
   end

   function pool.hasTask()
      return finished < added
   end

   -- End the threads, once they have done what they were given.
   function pool.close()
      if workers then
         for _ = 1, size do
            queue:write(nil)
         end
         workers:join()
         workers = nil
      end
   end

   -- What a task has returned, once: waits for it. If it failed, that error is raised here.
   function pool.getResult(id)
      pool.isDone(id, true)
      if options and options.closeOnLastTask and finished == added then
         pool.close()
      end
      id = id or finished
      local result = results[id]
      results[id] = nil
      if result and not result.ok then
         error(result.values[1], 0)
      elseif result then
         return unpack(result.values, 1, result.values.n)
      end
   end

   return pool
end
