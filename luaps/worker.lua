-- Worker: the handle through which a Lua program uses parameters; one per thread of a program.
--
-- The memory for keys and the request are reused, so that a call with tensors allocates nothing. The C object is freed
-- with its Lua one at the latest; `finalize` leaves the node before.
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
local sampling = require 'luaps.sampling'
local stats = require 'luaps.stats'
local values = require 'luaps.values'
local waiting = require 'luaps.waiting'

local check, readkeys, open, raise = errors.check, keys.read, values.open, errors.raise
local PULL, PUSH, SET = tonumber(C.PS_PULL), tonumber(C.PS_PUSH), tonumber(C.PS_SET)
local readstats, WorkerStats = stats.reader('ps_worker_stats')
local EFORKED, ECLOSED, ASYNC = tonumber(C.PS_EFORKED), tonumber(C.PS_ECLOSED), tonumber(C.PS_ASYNC)

local GROUP = 10000 -- keys, as in pyps

local Worker = {}
Worker.__index = Worker

local function newhandle(node)
   local handle = ffi.new('ps_worker *[1]')
   check(C.ps_worker_create(node.handle, handle))
   return ffi.gc(handle[0], C.ps_worker_free)
end

-- A worker of `node`; with `owns`, the node is shut down with it.
local function new(node, base, owns)
   local request = ffi.new('ps_request')
   return setmetatable({
      node = node,
      base = node:first_key(base),
      owns = owns,
      element = node.element,
      handle = newhandle(node),
      request = request,
      stamp = ffi.cast('int64_t *', ffi.cast('char *', request) + ffi.offsetof('ps_request', 'timestamp')),
      others = node:has_server(),
      waits = false, -- in an operation that is not asynchronous
      scratch = keys.scratch(),
      number = ffi.new('int64_t[1]'),
      flag = ffi.new('int32_t[1]'),
      pending = pending.new(node.element),
      finalized = false,
   }, Worker)
end

-- In a forked child: become a worker of its own. The parent's is left alone.
local function inherit(self)
   if self.finalized then
      raise('the worker is finalized (%s)', ffi.string(C.ps_code_name(ECLOSED)))
   end
   self.handle = newhandle(self.node)
   self.pending = pending.new(self.element)
end

-- An operation that an error ended, as a signal raises it: its buffer is written to by the worker's next call, so that
-- it is soon enough to forget it before that. Nothing can be done at once: in Python such an error is raised again by
-- every instruction until it has left Lua.
local function forget(self)
   self.waits = false
   if self.stamp[0] >= 0 then
      check(C.ps_abandon(self.handle, self.stamp[0]))
   end
end

-- In a forked child the first call makes the worker one of its own. `limit` is in seconds; nil: the default.
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

-- Run an operation that has a buffer: to its end, or until it has the timestamp that is returned.
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

-- Fill the request; what stands in for `value`, if something does.
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

-- An asynchronous operation was begun, or ended at once.
local function keep(self, operation, value, standin)
   local timestamp = tonumber(self.stamp[0])
   if operation == PULL and timestamp >= 0 then
      self.pending:keep(timestamp, value, standin)
   elseif operation == PULL and standin then
      values.fill(value, standin, self.element)
   end
   return timestamp
end

-- The parentheses around the last calls, here and below, make them no tail calls, of which a trace can hold few.
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

-- Read the values of the keys into a tensor, buffer or table. All three operations return a timestamp to wait for; -1
-- says that the operation has ended, as it has where the keys live on this node, and always unless `async` is true. The
-- values of another are there when it was waited for, or is_finished told so. Operations of one worker on a key take
-- place one after another.
--
-- `timeout`, in seconds and 300 without it, bounds all that the call waits for: until this node's server knows the
-- worker, earlier operations on the same keys or buffer have ended and what is on its way leaves room; and, unless
-- `async`, for the answer. The error says what was waited for and whether the operation was sent: if so, it may have
-- been done, or be done yet.
function Worker:pull(given, value, async, timeout, ...) -- luacheck: ignore 212
   return (operate(self, PULL, given, value, async, timeout))
end

-- Add to the values of the keys; a repeated key gets every addition.
function Worker:push(given, value, async, timeout, ...) -- luacheck: ignore 212
   return (operate(self, PUSH, given, value, async, timeout))
end

-- Push in groups of so many keys, 10000 unless `group` says so, each when the one before it has ended, so that a large
-- model can be set up without sending all of it at once. The timestamp, if `async`, stands for all of it.
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
   check(0, nil, standin) -- memory that the request points at lives until here
   return timestamp
end

-- Replace the values of the keys; of a repeated key's values the last one stays.
function Worker:set(given, value, async, timeout, ...) -- luacheck: ignore 212
   return (operate(self, SET, given, value, async, timeout))
end

-- Pull if every key lives on this node, else leave the values as they are; was it done?
function Worker:pull_if_local(given, value)
   local standin = prepare(self, PULL, given, value)
   local request = self.request
   call(self, C.ps_pull_if_local, request.keys, request.num_keys, request.values, request.num_values, self.flag)
   if standin and self.flag[0] ~= 0 then
      values.fill(value, standin, self.element)
   end
   return self.flag[0] ~= 0
end

-- Move the keys to this node; returns a timestamp. `timeout` as for pull.
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

-- Tell that this worker will use the keys in clocks [start, stop); without `stop`, in clock `start`. `timeout`: seconds
-- for which the call may wait, if this node's server is behind with the intents of this worker; 300 without it.
function Worker:intent(given, start, stop, timeout)
   local first = arguments.whole('start', start)
   local last = stop == nil and 0 or arguments.whole('stop', stop)
   local data, n = readkeys(self.scratch, given, self.base, 'keys')
   callwithin(self, waiting.given(timeout), C.ps_intent, data, n, first, last)
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

waiting.add(Worker, call)
sampling.add(Worker, call, callwithin, submit)

-- The operation with this timestamp as an object, which has :wait(timeout) and :done().
function Worker:future(timestamp)
   return future.new(self, timestamp)
end

-- How many keys the server has; nil where they may be any numbers.
function Worker:num_keys()
   return self.node:num_keys()
end

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
   local counted = WorkerStats()
   call(self, C.ps_worker_get_stats, counted, ffi.sizeof(counted))
   return readstats(counted)
end

-- Wait for this worker's operations, at most `timeout` seconds, and leave the node; with 0 those that are on their way
-- may be lost. May be called again.
function Worker:finalize(timeout)
   local ok, message = true, nil
   if timeout ~= 0 and C.ps_pending(self.handle, self.number) == 0 and self.number[0] > 0 and self.node:is_open() then
      ok, message = pcall(self.waitall, self, timeout)
   end
   self.finalized = true
   check(C.ps_worker_finalize(self.handle))
   self.pending = pending.new(self.element)
   if self.owns then
      self.node:shutdown()
   end
   if not ok then
      error(message, 0)
   end
end
Worker.close = Worker.finalize

function Worker:__tostring()
   local id = self:id()
   return string.format('luaps.worker %s of %s', id > 0 and id or '(finalized)', tostring(self.node))
end

names.add(Worker)

return {new = new}
