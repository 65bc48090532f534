-- Node: the store of parameters on this host, which this process created or attached to.
local ffi = require 'ffi'
local C = require 'luaps.library'
local arguments = require 'luaps.arguments'
local elements = require 'luaps.elements'
local errors = require 'luaps.errors'
local keys = require 'luaps.keys'
local namedsettings = require 'luaps.namedsettings'
local names = require 'luaps.names'
local optimizers = require 'luaps.optimizers'
local sampling = require 'luaps.sampling'
local stats = require 'luaps.stats'
local tracing = require 'luaps.tracing'
local waiting = require 'luaps.waiting'
local worker = require 'luaps.worker'

local check = errors.check
local readstats, NodeStats = stats.reader('ps_node_stats')
local readworkerstats, WorkerStats = stats.reader('ps_worker_stats')
local ADDRESS_BYTES, REASON_BYTES = 128, 160
local DEFAULT_CAPACITY = 1000000
local WORKER, TRACE = {base = 1}, {base = 1}
local ON_LOSS = {fail = 0, continue = 1}
local TECHNIQUES = {all = C.PS_ALL, replication_only = C.PS_REPLICATION_ONLY, relocation_only = C.PS_RELOCATION_ONLY}

local Node = {}
Node.__index = Node

local function new(handle)
   waiting.prepare(handle)
   local info = ffi.new('ps_node_info')
   check(C.ps_node_get_info(handle, info, ffi.sizeof(info)))
   return setmetatable({
      handle = handle,
      info = info,
      element = elements.bynumber[info.dtype],
      number = ffi.new('int64_t[1]'),
      scratch = keys.scratch(),
   }, Node)
end

local node = {}

function node.attach(address, timeout)
   if type(address) ~= 'string' then
      errors.raise('address must be a string, got %s', errors.shown(address))
   elseif address:find('\0', 1, true) then
      errors.raise('address %s holds a NUL', errors.shown((address:gsub('%z', '\\0'))))
   end
   local handle = ffi.new('ps_node *[1]')
   check(C.ps_node_attach(address, arguments.seconds('timeout', timeout), handle))
   return new(ffi.gc(handle[0], C.ps_node_free))
end

-- Create a store; `options` are those of luaps.server.
function node.create(options)
   local element = elements.byname[options.dtype]
   if not element then
      errors.raise('dtype %s is not possible; choose one of %s', errors.shown(options.dtype),
         table.concat(elements.names, ', '))
   end
   local techniques = TECHNIQUES[options.techniques]
   if not techniques then
      errors.raise("techniques is %s; it must be 'all', 'replication_only' or 'relocation_only'",
         errors.shown(options.techniques))
   end
   local on_loss = ON_LOSS[options.on_loss]
   if not on_loss then
      errors.raise("on_loss is %s; it must be 'fail' or 'continue'", errors.shown(options.on_loss))
   end
   local lengths, count = keys.read(keys.scratch(), options.value_length, 0, 'value_length')
   if not options.num_keys and not options.capacity and count ~= 1 then
      errors.raise('%d value lengths were given: say num_keys for one for each key, or capacity if they are the ' ..
         'lengths of classes of keys (luaps.classed_keys)', count)
   end
   local optimizer = namedsettings.text(options.optimizer, 'optimizer',
      "a text like 'adagrad:lr=0.1' or a table like {'adagrad', lr = 0.1}")
   local initializer = namedsettings.text(options.initializer, 'initializer',
      "a text like 'normal:std=0.1' or a table like {'normal', std = 0.1}")
   local created = ffi.new('ps_node_options', {
      size = ffi.sizeof('ps_node_options'),
      num_keys = options.num_keys and arguments.whole('num_keys', options.num_keys, 1) or 0,
      capacity = options.capacity and arguments.whole('capacity', options.capacity, 1)
         or options.num_keys and 0 or DEFAULT_CAPACITY,
      value_lengths = lengths,
      num_lengths = count,
      dtype = element.number,
      max_workers = arguments.whole('max_workers', options.max_workers, 1, 2^31 - 1),
      num_workers = arguments.whole('num_workers', options.num_workers, 0, 2^31 - 1),
      memory_limit = arguments.whole('memory_limit', options.memory_limit, 0),
      latch_timeout = arguments.seconds('latch_timeout', options.latch_timeout),
      num_nodes = arguments.whole('num_nodes', options.num_nodes, 1, 2^31 - 1),
      node = arguments.whole('rank', options.rank, 0, 2^31 - 1),
      techniques = techniques,
      cluster = arguments.whole('cluster', options.cluster, 0),
      heartbeat = arguments.seconds('heartbeat', options.heartbeat),
      lost_after = arguments.seconds('lost_after', options.lost_after),
      on_loss = on_loss,
      in_flight = arguments.whole('in_flight', options.in_flight, 0),
      server_threads = arguments.whole('server_threads', options.server_threads, 1, 2^31 - 1),
      optimizer = optimizer,
      initializer = initializer,
   })
   if not options.num_keys then
      check(C.ps_load_zmq(nil)) -- without num_keys even a single node has a server
   end
   local handle = ffi.new('ps_node *[1]')
   check(C.ps_node_create(created, handle))
   local made = new(ffi.gc(handle[0], C.ps_node_free))
   tracing.begin(made.handle, options.trace_keys)
   return made
end

-- server:worker{base = 1}: create a worker of this node, for use by one thread.
function Node:worker(options)
   options = arguments.named('server:worker', options or {}, WORKER, 'server:worker{base = 0}')
   return worker.new(self, options.base, false)
end

-- The address at which processes of this user on this host attach. The first call starts a native thread that listens
-- there.
function Node:address()
   local address = ffi.new('char[?]', ADDRESS_BYTES)
   check(C.ps_node_listen(self.handle, address, ADDRESS_BYTES))
   return ffi.string(address)
end

-- With several nodes: call `bind` on each node with an endpoint of its own ("tcp://HOST:PORT", "ipc://PATH", or
-- "memory://NAME" if all nodes and workers are in this process). It returns the endpoint that is in use. Then call
-- `connect` on each node with the endpoints of all nodes in the order of their ranks; the node can be used from then
-- on. `shutdown` waits only for nodes that this one has heard of: where one may end before another has connected, call
-- `barrier` first.
function Node:bind(endpoint)
   if type(endpoint) ~= 'string' then
      errors.raise("endpoint must be a string like 'tcp://127.0.0.1:*', got %s", errors.shown(endpoint))
   end
   check(C.ps_load_zmq(nil))
   local bound = ffi.new('char[?]', ADDRESS_BYTES)
   check(C.ps_node_bind(self.handle, endpoint, bound, ADDRESS_BYTES))
   return ffi.string(bound)
end

function Node:connect(endpoints)
   if type(endpoints) ~= 'table' then
      errors.raise('endpoints must be a table of strings, got %s', errors.shown(endpoints))
   end
   local texts = ffi.new('const char *[?]', #endpoints + 1)
   for i, endpoint in ipairs(endpoints) do
      if type(endpoint) ~= 'string' then
         errors.raise('endpoints must be strings; got %s at position %d', errors.shown(endpoint), i)
      end
      texts[i - 1] = endpoint -- the table keeps the string alive
   end
   check(C.ps_node_connect(self.handle, texts, #endpoints))
end

Node.enable_sampling_support = sampling.enable

-- The number of nodes, and the rank of this one, counted from 0.
function Node:num_nodes()
   return self.info.num_nodes
end

function Node:rank()
   return self.info.node
end

-- The statistics of the node: a table of numbers.
function Node:stats()
   local counted = NodeStats()
   check(C.ps_node_get_stats(self.handle, counted, ffi.sizeof(counted)))
   return readstats(counted)
end

-- The statistics of all workers that this node has had, added up; what killed workers did is among it.
function Node:worker_stats()
   local counted = WorkerStats()
   check(C.ps_node_get_worker_stats(self.handle, counted, ffi.sizeof(counted)))
   return readworkerstats(counted)
end

-- The optimizer with all of its settings as they are now, for example 'adagrad:lr=0.1,...'; nil if pushes add.
function Node:optimizer()
   return optimizers.read(self.handle)
end

-- server:tune{lr = 0.05} or server:tune('lr=0.05'): change settings of the optimizer, on all nodes; every worker uses
-- them from the next barrier on at the latest.
function Node:tune(settings)
   optimizers.tune(self.handle, settings)
end

-- server:trace{base = 1}: what happened to the trace_keys on this node since the last call; also possible after
-- shutdown. Returns a table of events and the number of older events that were dropped, as the node keeps at most
-- 1048576.
--
-- An event is a table with time (seconds since 1970), key and event, and for 'relocated out' also `to`, the node that
-- the key moved to. The events: 'here' (the key lives on this node when the trace begins), 'localize', 'relocated in',
-- 'relocated out', 'replica made', 'replica ended', 'intent begins', 'intent ends'.
function Node:trace(options)
   options = arguments.named('server:trace', options or {}, TRACE, 'server:trace{base = 0}')
   return tracing.take(self.handle, self:first_key(options.base))
end

-- The reason why the first refused message was refused; an empty text if no message was refused.
function Node:first_refusal()
   local reason = ffi.new('char[?]', REASON_BYTES)
   check(C.ps_node_first_refusal(self.handle, reason, REASON_BYTES))
   return ffi.string(reason)
end

-- Wait until every node has come to a barrier; the process that created the node has to call this. `timeout` in
-- seconds.
function Node:barrier(timeout)
   check(waiting.stay(self.handle, waiting.limit(timeout), C.ps_node_barrier))
end

-- The number of keys; nil if keys are arbitrary numbers.
function Node:num_keys()
   local count = tonumber(self.info.num_keys)
   return count > 0 and count or nil
end

-- The number of the first key for a caller that gives `base`: 0 if keys are arbitrary numbers, which are never shifted.
function Node:first_key(base)
   return self:num_keys() and arguments.base(base) or 0
end

-- Whether operations may need a server, because a key may be on another node or not in use yet.
function Node:has_server()
   return self.info.num_nodes > 1 or not self:num_keys()
end

-- The number of elements of each value; nil if the values have different lengths.
function Node:value_length()
   local length = tonumber(self.info.value_length)
   return length > 0 and length or nil
end

-- The name of the element type.
function Node:dtype()
   return self.element.name
end

-- The number of elements of one value; `base` is the number of the first key.
function Node:length_of(key, base)
   local data, n = keys.read(self.scratch, key, base, 'key')
   if n ~= 1 then
      errors.raise('get_key_size expects one key, got %d', n)
   end
   return self:total_length(data, 1, base)
end

-- The number of elements of the values of 0-based keys together; a message about a key counts it from `base`.
function Node:total_length(data, n, base)
   check(C.ps_node_total_length(self.handle, data, n, self.number), base)
   return tonumber(self.number[0])
end

-- Whether the server is open; false after its shutdown.
function Node:is_open()
   return C.ps_node_is_open(self.handle) ~= 0
end

-- Close the store; if this process created it, for all of its workers. With several nodes this one keeps serving the
-- others until all of them have called shutdown, for at most `timeout` seconds; with 0 it closes at once. May be called
-- again.
function Node:shutdown(timeout)
   local ok, message = true, nil
   if timeout ~= 0 then
      ok, message = pcall(function()
         check(waiting.stay(self.handle, waiting.limit(timeout), C.ps_node_leave))
      end)
   end
   check(C.ps_node_shutdown(self.handle))
   if not ok then
      error(message, 0)
   end
end

function Node:__tostring()
   return string.format('luaps node: %s keys, value_length %s, %s, %s', tostring(self:num_keys() or 'any'),
      tostring(self:value_length() or 'varying'), self:dtype(), self:is_open() and 'open' or 'shut down')
end

names.add(Node)

return node
