-- Waiting: for operations on their way, for other workers. Methods of Worker.
--
-- Calls of ps.h that wait come back now and then with PS_EBUSY, so that signals are handled: Ctrl-C ends them.
local ffi = require 'ffi'
local C = require 'luaps.library'
local arguments = require 'luaps.arguments'
local clock = require 'luaps.clock'
local errors = require 'luaps.errors'

local ETIMEDOUT, EBUSY = tonumber(C.PS_ETIMEDOUT), tonumber(C.PS_EBUSY)
local TIMEOUT = 300       -- seconds, as in ps.h
local SIGNALS_EVERY = 0.1 -- seconds
local SHORTEST = 1e-9     -- seconds: to look once

local waiting = {}

-- Let calls with a node, and with workers that are made of it, come back.
function waiting.prepare(node)
   errors.check(C.ps_node_set_patience(node, SIGNALS_EVERY))
end

-- The seconds to wait.
function waiting.limit(timeout)
   return arguments.seconds('timeout', timeout or TIMEOUT)
end

-- The same for calls that look at no clock without need; nil is left as it is.
function waiting.given(timeout)
   return timeout ~= nil and arguments.seconds('timeout', timeout) or nil
end

local function handlesignals()
   io.stdout:flush() -- where that is Python's output, it handles its signals now
end

-- Call wait(handle, seconds) until it does not come back with PS_EBUSY; its last code. An error, as a signal's handler
-- raises, leaves what was waited at.
function waiting.stay(handle, limit, wait)
   local function try()
      local stop = clock() + limit
      local code = wait(handle, limit)
      while code == EBUSY do
         handlesignals()
         code = wait(handle, math.max(stop - clock(), 1e-9))
      end
      return code
   end
   local ok, code = pcall(try)
   if not ok then
      wait(handle, 1e-9)
      error(code, 0)
   end
   return code
end
jit.off(waiting.stay, true) -- compiled code calls no debug hook, by which a plain LuaJIT hears of Ctrl-C

-- Raise the error of a wait that took longer than `limit` seconds: what for, as the core said last.
local function faillate(limit)
   errors.raise('%s (timeout: %g s, PS_ETIMEDOUT)', ffi.string(C.ps_last_error().message), limit)
end

-- Go on with run(handle, first, ...), which came back with PS_EBUSY: begin it, and if `stamp` says that it is on its
-- way, wait for it.
local function goon(handle, limit, stop, stamp, run, first, ...)
   local code
   repeat
      handlesignals()
      local left = stop - clock()
      if stamp and stamp[0] >= 0 then
         code = C.ps_wait(handle, stamp[0], math.max(left, SHORTEST))
      elseif left <= 0 then
         faillate(limit)
      else
         if run == C.ps_run then
            first.timeout = left
         end
         code = run(handle, first, ...)
      end
   until code ~= EBUSY
   return code
end
jit.off(goon)

-- The code of run(handle, ...), with all the waiting before it is begun; with `stamp`, also until it has ended. `limit`
-- is in seconds, or nil.
function waiting.run(handle, limit, stamp, run, ...)
   local stop = limit and clock() + limit
   local code = run(handle, ...)
   if code == EBUSY then
      code = goon(handle, limit or TIMEOUT, stop or clock() + TIMEOUT, stamp, run, ...)
   end
   if code == ETIMEDOUT then
      faillate(limit or TIMEOUT)
   end
   return code
end

-- The code of the wait for an operation that was sent, until `stop` by the clock.
function waiting.answer(handle, timestamp, limit, stop)
   local code = waiting.stay(handle, math.max(stop - clock(), SHORTEST), function(_, seconds)
      return C.ps_wait(handle, timestamp, seconds)
   end)
   if code == ETIMEDOUT then
      faillate(limit)
   end
   return code
end

local function checkended(code, what, limit)
   if code == ETIMEDOUT then
      errors.raise('%s not ended within %g s (PS_ETIMEDOUT)', what, limit)
   end
   errors.check(code)
end

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
         local code = waiting.stay(self.handle, math.max(stop - clock(), 1e-9), function(handle, seconds)
            return C.ps_wait(handle, left[i], seconds)
         end)
         checkended(code, string.format('the operation with timestamp %d has', left[i]), limit)
         self.pending:give_back(left[i])
      end
   end

   -- Wait until every operation of this worker has ended; `timeout` in seconds.
   function Worker:waitall(timeout)
      local limit = waiting.limit(timeout)
      call(self, C.ps_current_clock, self.number) -- a forked child becomes a worker of its own
      checkended(waiting.stay(self.handle, limit, C.ps_wait_all), 'the operations on their way have', limit)
      self.pending:give_all_back()
   end

   Worker.waitAll = Worker.waitall

   -- A wait after which no operation of this worker is on its way.
   local function settle(self, wait, timeout)
      local limit = waiting.limit(timeout)
      call(self, C.ps_current_clock, self.number)
      errors.check(waiting.stay(self.handle, limit, wait))
      self.pending:give_all_back()
   end

   -- Wait until what this worker did is exchanged with the other nodes: its intents that have begun are acted on, and
   -- replicas on this node and their owners have seen each other; `timeout` in seconds.
   function Worker:wait_sync(timeout)
      settle(self, C.ps_wait_sync, timeout)
   end

   -- Wait until nothing of this node is on its way; `timeout` in seconds.
   function Worker:quiesce(timeout)
      settle(self, C.ps_quiesce, timeout)
   end

   -- Begin to set up values: intents of this worker wait until end_setup, and statistics count nothing.
   function Worker:begin_setup()
      call(self, C.ps_begin_setup)
   end

   -- End what begin_setup began: wait_sync and a barrier, and both again; `timeout` in seconds.
   function Worker:end_setup(timeout)
      settle(self, C.ps_end_setup, timeout)
   end

   -- Wait until every worker of every node, process or thread, Lua or Python, has come to a barrier; `timeout` in
   -- seconds.
   function Worker:barrier(timeout)
      call(self, C.ps_current_clock, self.number)
      errors.check(waiting.stay(self.handle, waiting.limit(timeout), C.ps_barrier))
   end
end

return waiting
