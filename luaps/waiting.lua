-- Waiting: for operations on their way, for other workers. Methods of Worker.
--
-- Every wait is cut into short ones, between which signals are handled: Ctrl-C ends it.
local C = require 'luaps.library'
local arguments = require 'luaps.arguments'
local clock = require 'luaps.clock'
local errors = require 'luaps.errors'

local EINTR, ETIMEDOUT, EBUSY = tonumber(C.PS_EINTR), tonumber(C.PS_ETIMEDOUT), tonumber(C.PS_EBUSY)
local TIMEOUT = 300       -- seconds, as in ps.h
local SIGNALS_EVERY = 0.1 -- seconds

-- Call step(handle, seconds, ...) until it succeeds, for `limit` seconds; its last code.
local function patiently(self, limit, step, ...)
   local left = limit
   local stop = clock() + left
   local code = step(self.handle, math.min(left, SIGNALS_EVERY), ...)
   while code == EINTR or code == ETIMEDOUT and left > 0 do
      io.stdout:flush() -- where that is Python's output, it handles its signals now
      left = stop - clock()
      code = step(self.handle, math.max(math.min(left, SIGNALS_EVERY), 1e-9), ...)
   end
   return code
end
jit.off(patiently) -- compiled code calls no debug hook, by which a plain LuaJIT hears of Ctrl-C

local function checkended(code, what, limit)
   if code == ETIMEDOUT then
      errors.raise('%s not ended within %g s (PS_ETIMEDOUT)', what, limit)
   end
   errors.check(code)
end

local function wait(handle, seconds, timestamp)
   return C.ps_wait(handle, timestamp, seconds)
end

local waiting = {}

-- The seconds to wait.
function waiting.limit(timeout)
   return arguments.seconds('timeout', timeout or TIMEOUT)
end

-- Call step(handle, limit, patience), which comes back with PS_EBUSY while others are missing, until it succeeds or the
-- limit is over; its last code. An error, as a signal's handler raises, leaves what was waited at.
function waiting.stay(handle, limit, step)
   local function try()
      local stop = clock() + limit
      local code = step(handle, limit, SIGNALS_EVERY)
      while code == EBUSY do
         io.stdout:flush()
         code = step(handle, math.max(stop - clock(), 1e-9), SIGNALS_EVERY)
      end
      return code
   end
   local ok, code = pcall(try)
   if not ok then
      step(handle, 1e-9, 1)
      error(code, 0)
   end
   return code
end
jit.off(waiting.stay, true)

-- Give Worker the methods. `call(self, run, ...)` runs a function of ps.h in a worker of this process.
function waiting.add(Worker, call)
   -- Has the operation with this timestamp ended?
   function Worker:is_finished(timestamp)
      timestamp = arguments.whole('timestamp', timestamp)
      call(self, C.ps_is_finished, timestamp, self.flag)
      local finished = self.flag[0] ~= 0
      if finished then
         self.pending:give_back(timestamp)
      end
      return finished
   end

   -- kv:wait(timestamp, ...), or kv:wait{timestamp, ..., timeout = seconds}: return when the operations have ended.
   function Worker:wait(...)
      local timestamps, count, timeout = {...}, select('#', ...), nil
      if type(timestamps[1]) == 'table' then
         timestamps = timestamps[1]
         count, timeout = #timestamps, timestamps.timeout
      end
      local limit = waiting.limit(timeout)
      local left = {}
      for i = 1, count do
         if not self:is_finished(timestamps[i]) then
            left[#left + 1] = tonumber(timestamps[i])
         end
      end
      local stop = clock() + limit
      for i = 1, #left do
         local code = patiently(self, math.max(stop - clock(), 1e-9), wait, left[i])
         checkended(code, string.format('the operation with timestamp %d has', left[i]), limit)
         self.pending:give_back(left[i])
      end
   end

   -- Wait until every operation of this worker has ended; `timeout` in seconds.
   function Worker:waitall(timeout)
      local limit = waiting.limit(timeout)
      call(self, C.ps_current_clock, self.number) -- a forked child becomes a worker of its own
      checkended(patiently(self, limit, C.ps_wait_all), 'the operations on their way have', limit)
      self.pending:give_all_back()
   end

   Worker.waitAll = Worker.waitall

   -- Such a step, after which no operation of this worker is on its way.
   local function settle(self, step, timeout)
      local limit = waiting.limit(timeout)
      call(self, C.ps_current_clock, self.number)
      errors.check(waiting.stay(self.handle, limit, step))
      self.pending:give_all_back()
   end

   -- Wait until what this worker did is exchanged with the other nodes: its intents that have begun are acted on, and
   -- replicas on this node and their owners have seen each other; `timeout` in seconds.
   function Worker:wait_sync(timeout)
      settle(self, C.ps_wait_sync_step, timeout)
   end

   -- Wait until nothing of this node is on its way; `timeout` in seconds.
   function Worker:quiesce(timeout)
      settle(self, C.ps_quiesce_step, timeout)
   end

   -- Begin to set up values: intents of this worker wait until end_setup, and statistics count nothing.
   function Worker:begin_setup()
      call(self, C.ps_begin_setup)
   end

   -- End what begin_setup began: wait_sync and a barrier, and both again; `timeout` in seconds.
   function Worker:end_setup(timeout)
      settle(self, C.ps_end_setup_step, timeout)
   end

   -- Wait until every worker of every node, process or thread, Lua or Python, has come to a barrier; `timeout` in
   -- seconds.
   function Worker:barrier(timeout)
      call(self, C.ps_current_clock, self.number)
      errors.check(waiting.stay(self.handle, waiting.limit(timeout), C.ps_barrier_step))
   end
end

return waiting
