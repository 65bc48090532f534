-- What a thread of a pool runs: jobs from the queue that all threads share, or from its own (see threads.threads).
local Queue = require 'threads.queue'

-- A result on its way back: the arguments of the endcallback, or a message. What cannot be sent becomes an error.
local function answer(id, results, number, ok, ...)
   local result = {thread = id, ok = ok, values = ok and {n = select('#', ...), ...} or tostring((...))}
   local sent, message = pcall(results.put, results, result, number)
   if not sent then
      result.ok, result.values = false, 'FATAL THREAD PANIC: (write) ' .. tostring(message)
      results:put(result, number)
   end
end

local function work(id, queue, results, message, number)
   local loaded, job = pcall(queue.open, queue, message)
   if not loaded then
      answer(id, results, number, false, 'FATAL THREAD PANIC: (read) ' .. tostring(job))
      return
   end
   answer(id, results, number, xpcall(function()
      return job.callback(unpack(job.arguments, 1, job.arguments.n))
   end, debug.traceback))
end

-- `shared`, `own` and `results`: ids of queues; `serialize`: the package that makes their messages.
return function(id, shared, own, results, serialize)
   require 'torch'
   rawset(_G, '__threadid', id)
   rawset(_G, '__threadname', 'thread ' .. id)
   shared, own = Queue.find(shared, serialize), Queue.find(own, serialize)
   results = Queue.find(results, serialize)
   local queue = own -- a pool begins in specific mode
   while true do
      local message, number = queue:take()
      if not message then
         return
      elseif number == 0 then -- the mode changes
         queue = queue == own and shared or own
      else
         work(id, queue, results, message, number)
      end
   end
end
