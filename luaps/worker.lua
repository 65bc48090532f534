-- Worker: the object through which a Lua program accesses parameters; one per thread of the program.
--
-- The memory for keys and the request are reused, so that a call with tensors allocates nothing. `finalize` leaves the
-- node; the C object is freed at the latest when the Lua object is garbage-collected.
local ffi = require 'ffi'
local C = require 'luaps.library'
local arguments = require 'luaps.arguments'
local clock = require 'luaps.clock'
local elements = require 'luaps.elements'
local errors = require 'luaps.errors'
local future = require 'luaps.future'
local keys = require 'luaps.keys'
local lists = require 'luaps.lists'
local names = require 'luaps.names'
local pending = require 'luaps.pending'
local rows = require 'luaps.rows'
local sampling = require 'luaps.sampling'
local stats = require 'luaps.stats'
local tableworkers = require 'luaps.tableworkers'
local values = require 'luaps.values'
local waiting = require 'luaps.waiting'

local check, readkeys, open, raise = errors.check, keys.read, values.open, errors.raise
local PULL, PUSH, SET = tonumber(C.PS_PULL), tonumber(C.PS_PUSH), tonumber(C.PS_SET)
local readstats, WorkerStats = stats.reader('ps_worker_stats')
local EFORKED, ECLOSED, ASYNC = tonumber(C.PS_EFORKED), tonumber(C.PS_ECLOSED), tonumber(C.PS_ASYNC)

local GROUP = 10000 -- keys per message, as in pyps

local Worker = {}
Worker.__index = Worker

local function newhandle(node)
   local handle = ffi.new('ps_worker *[1]')
   check(C.ps_worker_create(node.handle, handle))
   return ffi.gc(handle[0], C.ps_worker_free)
end

-- Create a worker of `node`; if `owns` is true, its `finalize` also shuts the node down.
local function new(node, base, owns)
   local request = ffi.new('ps_request')
   return setmetatable({
      node = node,
      base = node:first_key(base),
      counts_from = base, -- where keys are not arbitrary numbers
      owns = owns,
      element = node.element,
      handle = newhandle(node),
      request = request,
      stamp = ffi.cast('int64_t *', ffi.cast('char *', request) + ffi.offsetof('ps_request', 'timestamp')),
      others = node:has_server(),
      waits = false, -- true during an operation that is not asynchronous
      scratch = keys.scratch(node.hash),
      number = ffi.new('int64_t[1]'),
      flag = ffi.new('int32_t[1]'),
      pending = pending.new(node.element),
      tables = tableworkers.new(),
      finalized = false,
   }, Worker)
end

-- In a forked child: create a worker of its own. The worker of the parent is left alone.
local function inherit(self)
   if self.finalized then
      raise('the worker is finalized (%s)', ffi.string(C.ps_code_name(ECLOSED)))
   end
   self.handle = newhandle(self.node)
   self.pending = pending.new(self.element)
end

-- Abandon an operation that a Lua error interrupted, for example an error from a signal handler. The operation may
-- still write to its buffer, but only during the worker's next call, so that it is early enough to do this at the
-- beginning of that call. It cannot be done at once: in Python such an error is raised again at every instruction until
-- Lua has returned.
local function forget(self)
   self.waits = false
   if self.stamp[0] >= 0 then
      check(C.ps_abandon(self.handle, self.stamp[0]))
   end
end

-- Run a function of ps.h. In a forked child the first call creates a worker of its own. `limit` is in seconds; nil: the
-- default.
local function attempt(self, limit, stamp, run, ...)
   local code = waiting.run(self.handle, limit, stamp, run, ...)
   if code == EFORKED then
      inherit(self)
      code = waiting.run(self.handle, limit, stamp, run, ...)
   end
   check(code, self.base)
end

local function callwithin(self, limit, run, ...)
   if self.waits then
      forget(self)
   end
   attempt(self, limit, nil, run, ...)
end

local function call(self, run, ...)
   callwithin(self, nil, run, ...)
end

-- Run an operation that has a buffer: until its end, or if `async` until it has a timestamp. Returns the timestamp, or
-- -1 if the operation has ended.
local function submit(self, async, limit, run, ...)
   if self.waits then
      forget(self)
   end
   local stamp = nil
   self.stamp[0] = -1
   if not async then
      self.waits, stamp = true, self.stamp
   end
   attempt(self, limit, stamp, run, ...)
   self.waits = false
   return async and tonumber(self.stamp[0]) or -1
end

local function checkasync(async, ...) -- luacheck: ignore 212
   if async ~= nil and type(async) ~= 'boolean' then
      raise('async must be true or false, got %s', errors.shown(async))
   end
end

-- Fill the request; returns the stand-in for `value`, if there is one.
local function prepare(self, operation, given, value, async, ...) -- luacheck: ignore 212
   local request = self.request
   local data, n = readkeys(self.scratch, given, self.base, 'keys')
   local wanted = nil
   if operation == PULL and lists.is(value) then
      wanted = self.node:total_length(data, n, self.base)
   end
   local memory, length, standin = open(value, self.element, operation == PULL, wanted)
   if async and operation == PULL and not standin and self.node:has_server() and elements.tensorclass(value) then
      standin = values.twin(value)
      memory = standin:data()
   end
   request.keys, request.num_keys = data, n
   request.operation, request.values, request.num_values = operation, memory, length
   request.flags = async and ASYNC or 0
   request.done, request.timeout = 0, 0
   return standin
end

-- Call after an asynchronous operation: keeps its destination until it has ended, or fills it if the operation has
-- already ended.
local function keep(self, operation, value, standin)
   local timestamp = tonumber(self.stamp[0])
   if operation == PULL and timestamp >= 0 then
      self.pending:keep(timestamp, value, standin)
   elseif operation == PULL and standin then
      values.fill(value, standin, self.element)
   end
   return timestamp
end

-- The parentheses around the calls in `return`, here and below, prevent tail calls; a trace can contain only few of
-- them.
local function operate(self, operation, given, value, async, timeout, ...) -- luacheck: ignore 212
   checkasync(async)
   local limit = waiting.given(timeout)
   local standin = prepare(self, operation, given, value, async)
   if self.others then
      self.request.timeout = limit or 0
      submit(self, async, limit, C.ps_run, self.request)
   else
      local code = C.ps_run(self.handle, self.request)
      if code == EFORKED then
         inherit(self)
         code = C.ps_run(self.handle, self.request)
      end
      check(code, self.base)
   end
   if async then
      return (keep(self, operation, value, standin))
   end
   if standin and operation == PULL then
      values.fill(value, standin, self.element)
   end
   return -1
end

-- Read the values of the keys into a tensor, buffer or table.
--
-- pull, push and set return a timestamp to wait for. -1 means that the operation has already ended: always without
-- `async`, and also if all keys are on this node. The values of an asynchronous pull are there after a wait for it, or
-- when is_finished has returned true. Operations of one worker on the same key are carried out in their order.
--
-- `timeout` is in seconds, default 300. It limits all waits of the call: until this node's server knows the worker,
-- until earlier operations on the same keys or buffer have ended, until there is room for more requests under way, and,
-- without `async`, until the answer has come. The error says what the call waited for and whether the operation was
-- sent: if it was, it may have been carried out, or may still be.
function Worker:pull(given, value, async, timeout, ...) -- luacheck: ignore 212
   return (operate(self, PULL, given, value, async, timeout))
end

-- Add to the values of the keys. If a key is repeated, all its additions count.
function Worker:push(given, value, async, timeout, ...) -- luacheck: ignore 212
   return (operate(self, PUSH, given, value, async, timeout))
end

-- Push in groups of `group` keys, by default 10000. Each group is sent when the one before has ended, so that setting
-- up a large model does not send everything at once. With `async` the timestamp covers all groups.
function Worker:staggered_push(given, value, group, async)
   checkasync(async)
   local most = arguments.whole('group', group or GROUP, 1)
   local standin = prepare(self, PUSH, given, value)
   local request = self.request
   local left, room = tonumber(request.num_keys), tonumber(request.num_values)
   local total = self.node:total_length(request.keys, left, self.base)
   if total ~= room then
      raise('the buffer has %d elements, the keys need %d', room, total)
   end
   local timestamp
   repeat
      local n = math.min(left, most)
      left = left - n
      request.num_keys, request.num_values = n, self.node:total_length(request.keys, n, self.base)
      request.done = 0
      local last = async and left == 0
      request.flags = last and ASYNC or 0
      request.timeout = 0
      timestamp = submit(self, last, nil, C.ps_run, request)
      request.keys = request.keys + n
      request.values = ffi.cast('char *', request.values) + request.num_values * self.element.bytes
   until left == 0
   check(0, nil, standin) -- keeps the memory that the request points at alive until here
   return timestamp
end

-- Replace the values of the keys. If a key is repeated, its last value counts.
function Worker:set(given, value, async, timeout, ...) -- luacheck: ignore 212
   return (operate(self, SET, given, value, async, timeout))
end

-- Pull if all keys are on this node; otherwise leave `value` unchanged. Returns whether it was done.
function Worker:pull_if_local(given, value)
   local standin = prepare(self, PULL, given, value)
   local request = self.request
   call(self, C.ps_pull_if_local, request.keys, request.num_keys, request.values, request.num_values, self.flag)
   if standin and self.flag[0] ~= 0 then
      values.fill(value, standin, self.element)
   end
   return self.flag[0] ~= 0
end

-- Move the keys to this node. Returns a timestamp; `timeout` as for pull.
function Worker:localize(given, async, timeout)
   checkasync(async)
   local limit = waiting.limit(timeout)
   local stop = clock() + limit
   local data, n = readkeys(self.scratch, given, self.base, 'keys')
   callwithin(self, limit, C.ps_localize, data, n, self.number)
   local timestamp = tonumber(self.number[0])
   if async or timestamp < 0 then
      return timestamp
   end
   check(waiting.answer(self.handle, timestamp, limit, stop))
   return -1
end

-- Announce that this worker will use the keys in clocks [start, stop), or without `stop` in clock `start`. `timeout`:
-- how many seconds the call may wait if the server of this node has not processed earlier intents of this worker yet;
-- default 300.
function Worker:intent(given, start, stop, timeout)
   local first = arguments.whole('start', start)
   local last = stop == nil and 0 or arguments.whole('stop', stop)
   local data, n = readkeys(self.scratch, given, self.base, 'keys')
   callwithin(self, waiting.given(timeout), C.ps_intent, data, n, first, last)
end

-- Return which keys have a row, on any node, as a table of booleans; it makes no rows. Keys of a range always have one.
-- `timeout` as for pull.
function Worker:contains(given, timeout)
   local answers, n = rows.ask(self, callwithin, C.ps_contains, given, timeout)
   local found = {}
   for i = 1, n do
      found[i] = answers[i - 1] ~= 0
   end
   return found
end

-- Forget keys, on all nodes: their values, and what the optimizer keeps for them. Their memory is used again, and the
-- next use of a key makes it anew. Returns how many keys existed. Keys of a range cannot be deleted. `timeout` as for
-- pull.
function Worker:delete(given, timeout)
   local answers, n = rows.ask(self, callwithin, C.ps_delete, given, timeout)
   local deleted = 0
   for i = 0, n - 1 do
      deleted = deleted + answers[i]
   end
   return deleted
end

-- Iterate over the keys that live on this node: `for found in kv:keys(chunk)` gives buffers (see luaps.buffer) of int64
-- with at most `chunk` keys, by default 65536. Others go on meanwhile. A key that lives here all the time is named
-- exactly once.
function Worker:keys(chunk)
   return rows.here(self, call, chunk)
end

-- Advance this worker's clock by one and return it; it starts at 0.
function Worker:advance_clock()
   call(self, C.ps_advance_clock, self.number)
   local reached = tonumber(self.number[0])
   self.tables:follow(reached)
   return reached
end

function Worker:current_clock()
   call(self, C.ps_current_clock, self.number)
   return tonumber(self.number[0])
end

waiting.add(Worker, call)
sampling.add(Worker, call, callwithin, submit)

-- This worker's worker of a named table of the server, the same one each time. Its clock is this one's, and it ends
-- with this one. Its operations, waits and barriers are its own. `timeout`: seconds to wait until a process has made
-- the table (see server:table), default 300.
function Worker:table(name, timeout)
   local found = self.tables:find(name)
   if not found then
      local reached = self:current_clock()
      found = new(self.node:table(name, {timeout = timeout}), self.counts_from, true)
      self.tables:add(name, found)
      self.tables:follow(reached)
   end
   return found
end

-- A future for the operation with this timestamp; it has the methods :wait(timeout) and :done().
function Worker:future(timestamp)
   return future.new(self, timestamp)
end

-- The number of keys; nil if keys are arbitrary numbers.
function Worker:num_keys()
   return self.node:num_keys()
end

-- The number of elements of the value of a key; without a key, of the first one.
function Worker:get_key_size(key)
   return self.node:length_of(key == nil and self.base or key, self.base)
end

-- The number of this worker on its node, counted from 1; 0 after finalize.
function Worker:id()
   return C.ps_worker_id(self.handle)
end

-- The statistics of this worker: a table of numbers.
function Worker:stats()
   local counted = WorkerStats()
   call(self, C.ps_worker_get_stats, counted, ffi.sizeof(counted))
   return readstats(counted)
end

-- Wait for the operations of this worker, for at most `timeout` seconds, and leave the node. With 0, operations that
-- have not ended may be lost. Before that, its workers of named tables do the same. May be called again.
function Worker:finalize(timeout)
   waiting.limit(timeout) -- a wrong timeout changes nothing
   local failure = self.tables:finalize(timeout)
   if timeout ~= 0 and C.ps_pending(self.handle, self.number) == 0 and self.number[0] > 0 and self.node:is_open() then
      local ok, message = pcall(self.waitall, self, timeout)
      failure = failure or not ok and message
   end
   self.finalized = true
   check(C.ps_worker_finalize(self.handle))
   self.pending = pending.new(self.element)
   if self.owns then
      self.node:shutdown()
   end
   if failure then
      error(failure, 0)
   end
end
Worker.close = Worker.finalize

function Worker:__tostring()
   local id = self:id()
   return string.format('luaps.worker %s of %s', id > 0 and id or '(finalized)', tostring(self.node))
end

names.add(Worker)

return {new = new}
