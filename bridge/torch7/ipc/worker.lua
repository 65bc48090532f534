-- What a thread of ipc.map runs: one function, whose results or error are its answer.
local native = require 'bridge.native'
local Queue = require 'threads.queue'

local C = native.C
local SERIALIZE = 'threads.sharedserialize'

local function borrow(id)
   local queue = Queue.find(id, SERIALIZE)
   C.br_queue_release(queue.queue) -- the reference that was lent
   return queue
end

local function answer(queue, ok, ...)
   local values = ok and {n = select('#', ...), ...} or tostring((...))
   local sent, message = pcall(queue.put, queue, {ok = ok, values = values}, 0)
   if not sent then
      queue:put({ok = false, values = 'a result cannot be sent: ' .. tostring(message)}, 0)
   end
end

return function(questions, answers)
   require 'torch'
   questions, answers = borrow(questions), borrow(answers)
   answer(answers, pcall(function()
      require 'ipc'
      local message, id = questions:take()
      local task = questions:open(message)
      local arguments = task.arguments
      arguments[arguments.n + 1] = id
      return task.run(unpack(arguments, 1, arguments.n + 1))
   end))
end
