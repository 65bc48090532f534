-- ipc.workqueue([name]): questions from the thread that made it to all others, and their answers.
local ffi = require 'ffi'
local torch = require 'torch'
local native = require 'bridge.native'
local Queue = require 'threads.queue'
local wait = require 'threads.wait'
local sharedserialize = require 'threads.sharedserialize'
local closures = require 'ipc.closures'

local C = native.C
local SERIALIZE = 'threads.sharedserialize'
local WAY = 'workqueue:writeup() sends it with them'

local home = {}
local Workqueue = torch.class('ipc.workqueue', home)

-- Fill an empty object around a pointer, whose reference it takes over.
local function around(self, pointer)
   self.pointer = ffi.gc(pointer, C.br_workqueue_release)
   local questions = Queue.find(C.br_workqueue_questions(pointer), SERIALIZE)
   local answers = Queue.find(C.br_workqueue_answers(pointer), SERIALIZE)
   self.owner = C.br_workqueue_belongs(pointer, native.heap) ~= 0
   self.out, self.into = questions, answers
   if not self.owner then
      self.out, self.into = answers, questions
   end
end

sharedserialize.reference('ipc.workqueue', C.br_workqueue_release, function(self)
   local pointer = self.pointer or error('this workqueue is closed', 0)
   C.br_workqueue_retain(pointer)
   return pointer
end, function(self, pointer)
   pointer = ffi.cast('br_workqueue *', pointer)
   C.br_workqueue_retain(pointer)
   around(self, pointer)
end)

local function check(self)
   if not self.pointer then
      error('this workqueue is closed', 3)
   end
end

local function put(self, ...)
   for i = 1, select('#', ...) do
      self.out:put((select(i, ...)), 0)
   end
end

-- Put values into the line, each for one read. Functions among them have no upvalues.
function Workqueue:write(...)
   check(self)
   closures(WAY, ...)
   put(self, ...)
end

-- The same, of functions with their upvalues too.
function Workqueue:writeup(...)
   check(self)
   put(self, ...)
end

-- The next value; waits for it, unless told not to (true): then nothing, where there is none.
function Workqueue:read(donotblock)
   check(self)
   local message
   if donotblock then
      message = self.into:poll()
      if not message then
         return
      end
   else
      message = self.into:take() or error('the process is ending', 2)
   end
   return self.into:open(message)
end

-- Wait until everything that was asked up to now has been answered; the answers are still to be read.
function Workqueue:drain()
   check(self)
   if not self.owner then
      error('drain: only the thread that made a workqueue can do this', 2)
   end
   local n = C.br_queue_count(self.into.queue) + C.br_queue_count(self.out.queue)
   local rc
   repeat
      rc = C.br_queue_fill(self.into.queue, n, wait.slice)
   until not wait.again(rc)
   if rc == C.BR_CLOSED then
      wait.ended()
   end
end

-- Let go of it; when all threads have, what lies in it is forgotten.
function Workqueue:close()
   check(self)
   C.br_workqueue_release(ffi.gc(self.pointer, nil))
   self.pointer, self.out, self.into = nil, nil, nil
end

-- The original's sizes in bytes are accepted: memory here is taken as it is needed.
return function(name)
   if name ~= nil and type(name) ~= 'string' then
      error('ipc.workqueue: string expected, got ' .. torch.type(name), 2)
   end
   local pointer = C.br_workqueue_open(name, native.heap)
   if pointer == nil then
      error('not enough memory', 2)
   end
   local self = torch.factory('ipc.workqueue')()
   around(self, pointer)
   return self
end
