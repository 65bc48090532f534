-- threads.Threads: a pool of threads. Jobs go out through one queue that all threads share or, in specific mode,
-- through each thread's own; what they return comes back through another and ends in an endcallback here.
local torch = require 'torch'
local native = require 'bridge.native'
local Queue = require 'threads.queue'
local Thread = require 'threads.thread'

local C = native.C

local Threads = {__serialize = 'threads.serialize'}
Threads.__index = Threads

-- Which package serializes jobs and results, from the next pool on; without a name: the current one.
function Threads.serialization(name)
   if name == nil then
      return Threads.__serialize
   elseif type(name) ~= 'string' then
      error('serialization: name of a package expected, got ' .. torch.type(name), 2)
   end
   Threads.__serialize = name
end

-- An error without a place, as assert raises it.
local function must(condition, message)
   if not condition then
      error(message, 0)
   end
end

-- Threads end when no reference to their pool is left. The queues are held once more for that: when a state is closed,
-- finalizers run in any order.
local function guard(queues)
   local pointers = {}
   for i, queue in ipairs(queues) do
      pointers[i] = C.br_queue_find(queue:id())
   end
   local proxy = newproxy(true)
   getmetatable(proxy).__gc = function()
      for _, pointer in ipairs(pointers) do
         C.br_queue_close(pointer)
         C.br_queue_release(pointer)
      end
   end
   return proxy
end

local function running(self)
   must(self.__running, 'thread system is not running')
end

-- A thread that ended by itself will answer nothing.
local function checkalive(self)
   for id, thread in ipairs(self.threads) do
      if thread:ended() then
         error(string.format('[thread %d] has ended; standard error has its last words', id), 0)
      end
   end
end

local function stop(self)
   self.__running = false
   self.mainqueue:close() -- a thread may wait there for room
   self.threadqueue:close()
   for _, queue in ipairs(self.threadspecificqueues) do
      queue:close()
   end
   for _, thread in ipairs(self.threads) do
      thread:free()
   end
end

-- N threads, each of which first runs all the functions given, with its number. The pool, and for each thread a table
-- of what the last of them returned there.
function Threads.new(N, ...)
   local number = tonumber(N)
   if not number or number < 1 or number ~= math.floor(number) then
      error('Threads: a positive number of threads expected, got ' .. tostring(N), 2)
   end
   local functions = {...}
   for i = 1, select('#', ...) do
      if type(functions[i]) ~= 'function' then
         error(string.format('Threads: function expected as argument %d, got %s', i + 1, torch.type(functions[i])), 2)
      end
   end
   local serialize = Threads.__serialize
   local self = setmetatable({
      N = number,
      mainqueue = Queue(number, serialize),
      threadqueue = Queue(number, serialize),
      threadspecificqueues = {},
      threads = {},
      endcallbacks = {n = 0},
      errors = false,
      jobs = 0,
      __specific = true,
      __running = true,
   }, Threads)
   local queues = {self.mainqueue, self.threadqueue}
   for i = 1, number do
      self.threadspecificqueues[i] = Queue(number, serialize)
      queues[#queues + 1] = self.threadspecificqueues[i]
   end
   self.guard = guard(queues)
   local results = {}
   local started, message = pcall(function()
      for i = 1, number do
         self.threads[i] = Thread(string.format("require 'threads.worker'(%d, %d, %d, %d, %q)", i,
            self.threadqueue:id(), self.threadspecificqueues[i]:id(), self.mainqueue:id(), serialize))
      end
      for k, f in ipairs(functions) do
         for i = 1, number do
            self:addjob(i, f, function(...)
               results[i] = k == #functions and {...} or nil
            end, i)
         end
      end
      self:specific(false)
   end)
   if not started then
      stop(self)
      error(message, 0)
   end
   return self, results
end

-- Switch to jobs for a certain thread (true) or for any (false); without an argument: which it is.
function Threads:specific(yes)
   if yes == nil then
      return self.__specific
   end
   running(self)
   must(type(yes) == 'boolean', 'boolean expected')
   self:synchronize()
   if yes == self.__specific then
      return
   end
   for i = 1, self.N do -- each thread takes one, as it then waits at the other queue
      local queue = self.__specific and self.threadspecificqueues[i] or self.threadqueue
      queue:put(nil, 0)
   end
   self.__specific = yes
end

local function queueof(self, id)
   if not self.__specific then
      return self.threadqueue
   end
   must(type(id) == 'number' and self.threadspecificqueues[id], 'thread index expected')
   return self.threadspecificqueues[id]
end

-- Would addjob return at once?
function Threads:acceptsjob(id)
   running(self)
   return not queueof(self, id):isfull()
end

function Threads:hasjob()
   running(self)
   return self.endcallbacks.n > 0
end

-- Errors are raised where they are met, so there is none to ask for.
function Threads:haserror() -- luacheck: ignore 212
   return false
end

-- A queue that is full has room once endcallbacks have run: so results do not pile up.
local function add(self, queue, callback, endcallback, ...)
   must(type(callback) == 'function', 'function callback expected')
   must(endcallback == nil or type(endcallback) == 'function', 'function (or nil) endcallback expected')
   self.errors = false
   while queue:isfull() do
      self:dojob()
   end
   local number = self.jobs + 1
   local job = {callback = callback, arguments = {n = select('#', ...), ...}}
   local sent, message = pcall(queue.put, queue, job, number)
   if not sent then
      error('FATAL THREAD PANIC: (addjob) ' .. tostring(message), 0)
   end
   self.jobs = number
   self.endcallbacks.n = self.endcallbacks.n + 1
   self.endcallbacks[number] = endcallback or function() end
end

-- addjob([id,] callback [, endcallback [, ...]]): run `callback(...)` in a thread and give what it returns to
-- `endcallback` in this one.
function Threads:addjob(...)
   running(self)
   if self.__specific then
      return add(self, queueof(self, (...)), select(2, ...))
   end
   return add(self, self.threadqueue, ...)
end

-- Wait for the next job to be finished, and run its endcallback.
function Threads:dojob()
   running(self)
   self.errors = false
   local endcallbacks = self.endcallbacks
   if endcallbacks.n == 0 then
      error('dojob: there is no job to wait for', 2)
   end
   local message, number = self.mainqueue:take(function() checkalive(self) end)
   if not message then
      error('the process is ending', 2)
   end
   local endcallback = endcallbacks[number]
   endcallbacks[number] = nil
   endcallbacks.n = endcallbacks.n - 1 -- before anything can raise, or yield to code that reads it
   local opened, result = pcall(self.mainqueue.open, self.mainqueue, message)
   if not opened then
      self.errors = true
      error('FATAL THREAD PANIC: (dojob) ' .. tostring(result), 0)
   end
   local id = result.thread
   if not result.ok then
      self.errors = true
      error(string.format('[thread %d callback] %s', id, result.values))
   end
   local ended, failure = xpcall(function()
      endcallback(unpack(result.values, 1, result.values.n))
   end, debug.traceback)
   if not ended then
      self.errors = true
      error(string.format('[thread %d endcallback] %s', id, tostring(failure)))
   end
end

-- Run the endcallbacks of all jobs; the first that failed is an error, and the rest wait for another call.
function Threads:synchronize()
   if not self.__running then
      return
   end
   self.errors = false
   while self:hasjob() do
      self:dojob()
   end
end

-- Finish all jobs and end the threads; then the first error there was is raised.
function Threads:terminate()
   if not self.__running then
      return
   end
   local first
   while self:hasjob() do
      local ok, message = pcall(self.dojob, self)
      first = first or not ok and message
      for _, thread in ipairs(self.threads) do
         if thread:ended() then -- it will answer no more
            self.endcallbacks.n = 0
         end
      end
   end
   stop(self)
   if first then
      error(first, 0)
   end
end

return setmetatable({}, {
   __index = Threads,
   __newindex = Threads,
   __call = function(_, ...)
      return Threads.new(...)
   end
})
