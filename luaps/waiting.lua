-- Waiting for operations and for other workers. Adds methods to Worker.
--
-- Calls of ps.h that wait return PS_EBUSY from time to time, so that signals such as Ctrl-C are handled.
local ffi = require 'ffi'
local C = require 'luaps.library'
local arguments = require 'luaps.arguments'
local clock = require 'luaps.clock'
local errors = require 'luaps.errors'

local ETIMEDOUT, EBUSY = tonumber(C.PS_ETIMEDOUT), tonumber(C.PS_EBUSY)
local TIMEOUT = 300       -- seconds, as in ps.h
local SIGNALS_EVERY = 0.1 -- seconds
local SHORTEST = 1e-9 -- seconds; ps.h has another meaning for 0

local waiting = {}

-- Make waiting calls for this node and its workers return regularly.
function waiting.prepare(node)
   errors.check(C.ps_node_set_patience(node, SIGNALS_EVERY))
end

-- The number of seconds to wait, with the default.
function waiting.limit(timeout)
   return arguments.seconds('timeout', timeout or TIMEOUT)
end

-- The same, but nil stays nil: a call without a timeout then needs no look at the clock.
function waiting.given(timeout)
   return timeout ~= nil and arguments.seconds('timeout', timeout) or nil
end

local function handlesignals()
   io.stdout:flush() -- if Python replaced this output, it handles its signals in this call
end

-- Call wait(handle, seconds) until it returns something else than PS_EBUSY, and return that code. After an error, for
-- example from a signal handler, one last short call tells the core that the wait has ended.
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
jit.off(waiting.stay, true) -- compiled code calls no debug hooks, and a plain LuaJIT reports Ctrl-C by a hook

-- Raise the error for a wait of more than `limit` seconds; the core's last message says what it waited for.
local function faillate(limit)
   errors.raise('%s (timeout: %g s, PS_ETIMEDOUT)', ffi.string(C.ps_last_error().message), limit)
end

-- Continue a call run(handle, first, ...) that returned PS_EBUSY: try again to start the operation, or, if `stamp`
-- holds its timestamp, wait for its end.
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

-- Call run(handle, ...) and return its code, after all waits that it needs before it starts. With `stamp`, wait also
-- for the end of the operation. `limit` is in seconds, or nil.
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

-- Wait for an operation that was sent, until the time `stop` of the clock, and return the code.
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

-- Add the methods to Worker. `call(self, run, ...)` runs a function of ps.h for a worker of this process.
function waiting.add(Worker, call)
   -- Whether the operation with this timestamp has ended.
   function Worker:is_finished(timestamp)
      timestamp = arguments.whole('timestamp', timestamp)
      call(self, C.ps_is_finished, timestamp, self.flag)
      local finished = self.flag[0] ~= 0
      if finished then
         self.pending:give_back(timestamp)
      end
      return finished
   end

   -- kv:wait(timestamp, ...), or kv:wait{timestamp, ..., timeout = seconds}: wait until the operations have ended.
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
      call(self, C.ps_current_clock, self.number) -- in a forked child this creates a worker of its own
      checkended(waiting.stay(self.handle, limit, C.ps_wait_all), 'the operations on their way have', limit)
      self.pending:give_all_back()
   end

   Worker.waitAll = Worker.waitall

   local function stay(self, wait, timeout)
      local limit = waiting.limit(timeout)
      call(self, C.ps_current_clock, self.number)
      errors.check(waiting.stay(self.handle, limit, wait))
   end

   -- A wait after whose end no operation of this worker is under way.
   local function settle(self, wait, timeout)
      stay(self, wait, timeout)
      self.pending:give_all_back()
   end

   -- Wait until the effects of this worker have reached the other nodes: intents that have begun are acted on, and the
   -- replicas on this node are synchronized with the owners of the keys. `timeout` in seconds. With `behind` above 0
   -- only begin an exchange, of what was pushed to replicas here, and wait for the one that began so many calls before.
   function Worker:wait_sync(timeout, behind)
      if not behind or behind == 0 then
         return settle(self, C.ps_wait_sync, timeout)
      end
      behind = arguments.whole('behind', behind)
      stay(self, function(handle, seconds)
         return C.ps_follow_sync(handle, behind, seconds)
      end, timeout)
   end

   -- Wait until no operation or message of this node is under way; `timeout` in seconds.
   function Worker:quiesce(timeout)
      settle(self, C.ps_quiesce, timeout)
   end

   -- Begin the setup of values: until end_setup, intents of this worker are held back and statistics are not counted.
   function Worker:begin_setup()
      call(self, C.ps_begin_setup)
   end

   -- End the setup: wait_sync and a barrier, both twice; `timeout` in seconds.
   function Worker:end_setup(timeout)
      settle(self, C.ps_end_setup, timeout)
   end

   -- Wait until all workers of all nodes (processes or threads, Lua or Python) have come to a barrier; `timeout` in
   -- seconds.
   function Worker:barrier(timeout)
      stay(self, C.ps_barrier, timeout)
   end
end

return waiting
