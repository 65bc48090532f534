-- ipc.map(n, f, ...): n threads that run f(..., id) in Lua states of their own. Tensors are shared with them, all else
-- is copied.
local torch = require 'torch'
local native = require 'bridge.native'
local Queue = require 'threads.queue'
local Thread = require 'threads.thread'
local closures = require 'ipc.closures'

local C = native.C
local SERIALIZE = 'threads.sharedserialize'

local home = {}
local Map = torch.class('ipc.map', home)

-- A reference for the thread, which gives it back when it has one of its own.
local function lend(queue)
   local id = queue:id()
   C.br_queue_find(id)
   return id
end

local function start(task, id)
   local questions, answers = Queue(1, SERIALIZE), Queue(1, SERIALIZE)
   questions:put(task, id)
   return {
      id = id,
      answers = answers,
      thread = Thread(string.format("require 'ipc.worker'(%d, %d)", lend(questions), lend(answers)))
   }
end

-- Take what a thread has answered, if it has, and once there was an answer wait for the thread to be gone.
local function settle(worker, wait)
   if worker.answer then
      return
   end
   local message
   if wait then
      message = worker.answers:take(function()
         if worker.thread:ended() and not worker.answers:isfull() then
            error(string.format('[thread %d] has ended; standard error has its last words', worker.id), 0)
         end
      end) or error('the process is ending', 0)
   else
      message = worker.answers:poll()
      if not message then
         return
      end
   end
   worker.answer = worker.answers:open(message)
   worker.thread:free()
end

local function raise(self)
   for _, worker in ipairs(self.workers) do
      if worker.answer and not worker.answer.ok then
         local failure = worker.answer.values
         self.workers = {}
         error(failure, 0)
      end
   end
end

-- Wait for all threads: what they returned, one after the other. An error in one of them is raised here.
function Map:join()
   for _, worker in ipairs(self.workers) do
      settle(worker, true)
   end
   raise(self)
   local values, n = {}, 0
   for _, worker in ipairs(self.workers) do
      for i = 1, worker.answer.values.n do
         values[n + i] = worker.answer.values[i]
      end
      n = n + worker.answer.values.n
   end
   self.workers = {}
   return unpack(values, 1, n)
end

-- Raise the error of a thread that has failed by now.
function Map:checkErrors()
   for _, worker in ipairs(self.workers) do
      settle(worker, false)
   end
   raise(self)
end

function Map:__write()
   error('an ipc.map belongs to the thread that made it', 0)
end

return function(n, f, ...)
   local number = tonumber(n)
   if not number or number < 1 or number ~= math.floor(number) then
      error('ipc.map: a positive number of threads expected, got ' .. tostring(n), 2)
   elseif type(f) ~= 'function' then
      error('ipc.map: function expected as argument 2, got ' .. torch.type(f), 2)
   end
   closures('require what it needs inside of it, or give it as an argument', f, ...)
   local self = torch.factory('ipc.map')()
   self.workers = {}
   local task = {run = f, arguments = {n = select('#', ...), ...}}
   for id = 1, number do
      self.workers[id] = start(task, id)
   end
   return self
end
