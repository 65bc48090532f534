-- Worker: the handle through which a Lua program uses parameters; one per thread of a program.
--
-- The memory for keys and the request are reused, so that a call with tensors allocates nothing. The C object is freed
-- with its Lua one at the latest; `finalize` leaves the node before.
local ffi = require 'ffi'
local C = require 'luaps.library'
local arguments = require 'luaps.arguments'
local clock = require 'luaps.clock'
local errors = require 'luaps.errors'
local keys = require 'luaps.keys'
local values = require 'luaps.values'

local check, readkeys, open, raise = errors.check, keys.read, values.open, errors.raise
local PULL, PUSH, SET = tonumber(C.PS_PULL), tonumber(C.PS_PUSH), tonumber(C.PS_SET)
local EFORKED, EINTR, ECLOSED = tonumber(C.PS_EFORKED), tonumber(C.PS_EINTR), tonumber(C.PS_ECLOSED)
local ETIMEDOUT = tonumber(C.PS_ETIMEDOUT)
local BARRIER_TIMEOUT = 300 -- seconds, as in ps.h
local SIGNALS_EVERY = 0.1   -- seconds after which a barrier lets signals be handled

local Worker = {}
Worker.__index = Worker

local function newhandle(node)
   local handle = ffi.new('ps_worker *[1]')
   check(C.ps_worker_create(node.handle, handle))
   return ffi.gc(handle[0], C.ps_worker_free)
end

-- A worker of `node`; with `owns`, the node is shut down with it.
local function new(node, base, owns)
   return setmetatable({
      node = node,
      base = arguments.base(base),
      owns = owns,
      element = node.element,
      handle = newhandle(node),
      request = ffi.new('ps_request'),
      scratch = keys.scratch(),
      number = ffi.new('int64_t[1]'),
      flag = ffi.new('int32_t[1]'),
      finalized = false,
   }, Worker)
end

-- In a forked child: become a worker of its own. The parent's is left alone.
local function inherit(self)
   if self.finalized then
      raise('the worker is finalized (%s)', ffi.string(C.ps_code_name(ECLOSED)))
   end
   self.handle = newhandle(self.node)
end

local function call(self, run, ...)
   local code = run(self.handle, ...)
   if code == EFORKED then
      inherit(self)
      code = run(self.handle, ...)
   end
   check(code, self.base)
end

local function checkasync(async, ...) -- luacheck: ignore 212
   if async ~= nil and type(async) ~= 'boolean' then
      raise('async must be true or false, got %s', errors.shown(async))
   end
end

-- Fill the request; the tensor that holds a copy, if there is one.
local function prepare(self, operation, given, value, ...) -- luacheck: ignore 212
   local request = self.request
   request.keys, request.num_keys = readkeys(self.scratch, given, self.base, 'keys')
   local data, length, copy = open(value, self.element, operation == PULL)
   request.operation, request.values, request.num_values = operation, data, length
   request.done = 0
   return copy
end

-- The parentheses around the last calls, here and below, make them no tail calls, of which a trace can hold few.
local function operate(self, operation, given, value, async, ...) -- luacheck: ignore 212
   checkasync(async)
   local copy = prepare(self, operation, given, value)
   local request = self.request
   local code = C.ps_run(self.handle, request)
   if code == EFORKED then
      inherit(self)
      code = C.ps_run(self.handle, request)
   end
   check(code, self.base)
   if copy and operation == PULL then
      value:copy(copy)
   end
   return (tonumber(request.timestamp))
end

-- Read the values of the keys into a tensor or buffer. All three operations return a timestamp to wait for; -1 says
-- that the operation has ended, as it always has where the keys live on this node.
function Worker:pull(given, value, async, ...) -- luacheck: ignore 212
   return (operate(self, PULL, given, value, async))
end

-- Add to the values of the keys; a repeated key gets every addition.
function Worker:push(given, value, async, ...) -- luacheck: ignore 212
   return (operate(self, PUSH, given, value, async))
end

-- Replace the values of the keys; of a repeated key's values the last one stays.
function Worker:set(given, value, async, ...) -- luacheck: ignore 212
   return (operate(self, SET, given, value, async))
end

-- Pull if every key lives on this node, else leave the values as they are; was it done?
function Worker:pull_if_local(given, value)
   local copy = prepare(self, PULL, given, value)
   local request = self.request
   call(self, C.ps_pull_if_local, request.keys, request.num_keys, request.values, request.num_values, self.flag)
   if copy and self.flag[0] ~= 0 then
      value:copy(copy)
   end
   return self.flag[0] ~= 0
end

-- Move the keys to this node; returns a timestamp.
function Worker:localize(given, async)
   checkasync(async)
   local data, n = readkeys(self.scratch, given, self.base, 'keys')
   call(self, C.ps_localize, data, n, self.number)
   return tonumber(self.number[0])
end

-- Tell that this worker will use the keys in clocks [start, stop); without `stop`, in clock `start`.
function Worker:intent(given, start, stop)
   local first = arguments.whole('start', start)
   local last = stop == nil and 0 or arguments.whole('stop', stop)
   local data, n = readkeys(self.scratch, given, self.base, 'keys')
   call(self, C.ps_intent, data, n, first, last)
end

-- Add one to this worker's clock, which starts at 0, and return it.
function Worker:advance_clock()
   call(self, C.ps_advance_clock, self.number)
   return tonumber(self.number[0])
end

function Worker:current_clock()
   call(self, C.ps_current_clock, self.number)
   return tonumber(self.number[0])
end

-- Has the operation with this timestamp ended?
function Worker:is_finished(timestamp)
   call(self, C.ps_is_finished, arguments.whole('timestamp', timestamp), self.flag)
   return self.flag[0] ~= 0
end

-- kv:wait(timestamp, ...), or kv:wait{timestamp, ..., timeout = seconds}: return when the operations have ended.
function Worker:wait(...)
   local timestamps, count, timeout = {...}, select('#', ...), nil
   if type(timestamps[1]) == 'table' then
      timestamps = timestamps[1]
      count, timeout = #timestamps, timestamps.timeout
   end
   local limit = arguments.seconds('timeout', timeout)
   for i = 1, count do
      self:is_finished(timestamps[i])
   end
   for i = 1, count do
      call(self, C.ps_wait, timestamps[i], limit)
   end
end

-- Wait until every operation of this worker has ended; `timeout` in seconds.
function Worker:waitall(timeout)
   call(self, C.ps_wait_all, arguments.seconds('timeout', timeout))
end

-- Wait until every worker of the node, thread or process, Lua or Python, has come to a barrier; `timeout` in seconds.
function Worker:barrier(timeout)
   local left = arguments.seconds('timeout', timeout or BARRIER_TIMEOUT)
   call(self, C.ps_current_clock, self.number) -- a forked child becomes a worker of its own
   local stop = clock() + left
   local code = C.ps_barrier(self.handle, math.min(left, SIGNALS_EVERY))
   -- Between two looks the worker is outside the barrier: no one counts on it if a signal's handler raises an error.
   while code == EINTR or code == ETIMEDOUT and left > 0 do
      io.stdout:flush() -- where that is Python's output, it handles its signals now: Ctrl-C ends a barrier
      left = stop - clock()
      code = C.ps_barrier(self.handle, math.max(math.min(left, SIGNALS_EVERY), 1e-9))
   end
   check(code)
end
jit.off(Worker.barrier) -- compiled code calls no debug hook, by which a plain LuaJIT hears of Ctrl-C

-- How many keys the server has.
function Worker:num_keys()
   return self.node:num_keys()
end
Worker.numKeys = Worker.num_keys -- as Torch spells names

-- How many elements a key's value has; without a key, the first one's.
function Worker:get_key_size(key)
   return self.node:length_of(key == nil and self.base or key, self.base)
end

-- The worker's number on its node, from 1; 0 when it is finalized.
function Worker:id()
   return C.ps_worker_id(self.handle)
end

-- What this worker's calls counted: a table of numbers.
function Worker:stats()
   local stats = ffi.new('ps_worker_stats')
   call(self, C.ps_worker_get_stats, stats)
   return {
      pulls = tonumber(stats.pulls),
      pushes = tonumber(stats.pushes),
      sets = tonumber(stats.sets),
      keys_pulled = tonumber(stats.keys_pulled),
      keys_pushed = tonumber(stats.keys_pushed),
      keys_set = tonumber(stats.keys_set),
      keys_local = tonumber(stats.keys_local),
      latch_waits = tonumber(stats.latch_waits),
      longest_wait_ns = tonumber(stats.longest_wait_ns),
   }
end

-- Leave the node. May be called again.
function Worker:finalize()
   self.finalized = true
   check(C.ps_worker_finalize(self.handle))
   if self.owns then
      self.node:shutdown()
   end
end
Worker.close = Worker.finalize

function Worker:__tostring()
   local id = self:id()
   return string.format('luaps.worker %s of %s', id > 0 and id or '(finalized)', tostring(self.node))
end

return {new = new}
