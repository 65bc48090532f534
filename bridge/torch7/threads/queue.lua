-- A line of jobs between threads: functions with their arguments, serialized. Known in every thread by its id.
local ffi = require 'ffi'
local torch = require 'torch'
local native = require 'bridge.native'
local object = require 'torch.object'
local wait = require 'threads.wait'

local C, cast = native.C, ffi.cast
local home = {}
local Queue = torch.class('threads.Queue', home)

local slot = ffi.typeof('br_storage **')

-- Free a message's memory now: no other reference to its storage is left, and a collector in another state, whose heap
-- it may count for, does not see it here.
local function discard(storage)
   local pointer = cast(slot, storage)
   C.br_storage_release(pointer[0])
   pointer[0] = nil
end

-- Room for `room` jobs, serialized by the package `name`.
function Queue:__init(room, name)
   room = tonumber(room)
   if not room or not (room >= 1) then
      error('Queue: a positive number of jobs expected', 3)
   end
   local queue = C.br_queue_new(math.min(math.floor(room), 2^53))
   if queue == nil then
      error('not enough memory')
   end
   self.queue = ffi.gc(queue, C.br_queue_release)
   self.serialize = require(name or 'threads.serialize')
end

-- The queue that has this id, in this thread.
function Queue.find(id, name)
   local queue = C.br_queue_find(id)
   if queue == nil then
      error(string.format('there is no queue with the id %s', id), 2)
   end
   local self = torch.factory('threads.Queue')()
   self.queue = ffi.gc(queue, C.br_queue_release)
   self.serialize = require(name or 'threads.serialize')
   return self
end

function Queue:id()
   return C.br_queue_id(self.queue)
end

-- Put a value and a number into the line, when there is room. False: it is closed.
function Queue:put(value, number)
   local storage = self.serialize.save(value)
   local rc
   repeat
      rc = C.br_queue_push(self.queue, object.storage(storage), number, wait.slice)
   until not wait.again(rc)
   discard(storage)
   return rc == C.BR_DONE
end

-- The next message, for `open`, and its number; waits for it. Nothing: it is closed. With `look`, that is called from
-- time to time.
function Queue:take(look)
   local storage, number = ffi.new('br_storage *[1]'), ffi.new('int64_t[1]')
   local rc
   repeat
      rc = C.br_queue_pop(self.queue, storage, number, look and 0.1 or wait.slice)
      if rc == C.BR_TIMEOUT and look then
         look()
      end
   until not wait.again(rc)
   if rc == C.BR_DONE then
      return object.wrapstorage(storage[0]), tonumber(number[0])
   end
   return nil
end

-- The next message, if there is one; true where there will be none any more.
function Queue:poll()
   local storage, number = ffi.new('br_storage *[1]'), ffi.new('int64_t[1]')
   local rc = C.br_queue_pop(self.queue, storage, number, 0)
   if rc == C.BR_DONE then
      return object.wrapstorage(storage[0])
   end
   return nil, rc == C.BR_CLOSED
end

-- The value of a message.
function Queue:open(storage)
   local value = self.serialize.load(storage)
   discard(storage)
   return value
end

function Queue:isfull()
   return C.br_queue_count(self.queue) >= C.br_queue_room(self.queue)
end

-- Close the queue: it accepts no more jobs. Those in it are still given out; after the last one, threads that wait for
-- a job get none.
function Queue:close()
   C.br_queue_close(self.queue)
end

-- Put a function with arguments into the line.
function Queue:addjob(callback, ...)
   if type(callback) ~= 'function' then
      error('addjob: function expected, got ' .. torch.type(callback), 2)
   elseif not self:put({callback = callback, arguments = {n = select('#', ...), ...}}, 0) then
      error('addjob: this queue is closed', 2)
   end
end

-- Call the next function; what it returns.
function Queue:dojob()
   local message = self:take()
   if not message then
      error('dojob: this queue is closed', 2)
   end
   local job = self:open(message)
   return job.callback(unpack(job.arguments, 1, job.arguments.n))
end

return home.Queue
