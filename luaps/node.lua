-- Node: the store of parameters on this host, which this process created or attached to.
local ffi = require 'ffi'
local C = require 'luaps.library'
local arguments = require 'luaps.arguments'
local contents = require 'luaps.contents'
local elements = require 'luaps.elements'
local errors = require 'luaps.errors'
local keys = require 'luaps.keys'
local members = require 'luaps.members'
local namedsettings = require 'luaps.namedsettings'
local names = require 'luaps.names'
local optimizers = require 'luaps.optimizers'
local sampling = require 'luaps.sampling'
local stats = require 'luaps.stats'
local tables = require 'luaps.tables'
local tracing = require 'luaps.tracing'
local waiting = require 'luaps.waiting'
local worker = require 'luaps.worker'

local check = errors.check
local readstats, NodeStats = stats.reader('ps_node_stats')
local readworkerstats, WorkerStats = stats.reader('ps_worker_stats')
local ADDRESS_BYTES, REASON_BYTES = 128, 160
local WORKER, TRACE = {base = 1}, {base = 1}
local ON_LOSS = {fail = 0, continue = 1}
local TECHNIQUES = {
   all = C.PS_ALL,
   auto = C.PS_AUTO,
   replication_only = C.PS_REPLICATION_ONLY,
   relocation_only = C.PS_RELOCATION_ONLY,
}

local Node = {}
Node.__index = Node

-- `name` is that of a named table, and `hash` by what its keys come from texts, if they do.
local function new(handle, name, hash)
   waiting.prepare(handle)
   local info = ffi.new('ps_node_info')
   check(C.ps_node_get_info(handle, info, ffi.sizeof(info)))
   return setmetatable({
      handle = handle,
      name = name,
      info = info,
      element = elements.bynumber[info.dtype],
      number = ffi.new('int64_t[1]'),
      hash = hash,
      scratch = keys.scratch(hash),
   }, Node)
end

local node = {}

function node.attach(address, timeout)
   local handle = ffi.new('ps_node *[1]')
   check(C.ps_node_attach(arguments.text('address', address), arguments.seconds('timeout', timeout), handle))
   return new(ffi.gc(handle[0], C.ps_node_free))
end

-- Create a store; `options` are those of luaps.server.
function node.create(options)
   local techniques = TECHNIQUES[options.techniques]
   if not techniques then
      errors.raise("techniques is %s; it must be 'auto', 'all', 'replication_only' or 'relocation_only'",
         errors.shown(options.techniques))
   end
   local on_loss = ON_LOSS[options.on_loss]
   if not on_loss then
      errors.raise("on_loss is %s; it must be 'fail' or 'continue'", errors.shown(options.on_loss))
   end
   local fields = contents.read(options, 'value_length')
   if not options.num_keys and not options.capacity and fields.num_lengths ~= 1 then
      errors.raise('%d value lengths were given: say num_keys for one for each key, or capacity if they are the ' ..
         'lengths of classes of keys (luaps.classed_keys)', fields.num_lengths)
   end
   fields.max_workers = arguments.whole('max_workers', options.max_workers, 1, 2^31 - 1)
   fields.num_workers = arguments.whole('num_workers', options.num_workers, 0, 2^31 - 1)
   fields.latch_timeout = arguments.seconds('latch_timeout', options.latch_timeout)
   fields.num_nodes = arguments.whole('num_nodes', options.num_nodes, 1, 2^31 - 1)
   fields.node = arguments.whole('rank', options.rank, 0, 2^31 - 1)
   fields.techniques = techniques
   fields.cluster = arguments.whole('cluster', options.cluster, 0)
   fields.heartbeat = arguments.seconds('heartbeat', options.heartbeat)
   fields.lost_after = arguments.seconds('lost_after', options.lost_after)
   fields.on_loss = options.replicas == 0 and on_loss or ON_LOSS.continue
   fields.in_flight = arguments.whole('in_flight', options.in_flight, 0)
   fields.server_threads = arguments.whole('server_threads', options.server_threads, 1, 2^31 - 1)
   fields.replicas = arguments.whole('replicas', options.replicas, 0, 2^31 - 1)
   fields.compression = namedsettings.text(options.compression, 'compression',
      "a text like 'bfloat16' or a table like {'top_k', share = 0.1}")
   fields.places = options.places and arguments.whole('places', options.places, 1, 2^31 - 1) or 0
   if not options.num_keys then
      check(C.ps_load_zmq(nil)) -- without num_keys even a single node has a server
   end
   local handle = ffi.new('ps_node *[1]')
   local code = C.ps_node_create(ffi.new('ps_node_options', fields), handle)
   check(code, nil, fields) -- keeps the memory that the options point at alive until here
   local made = new(ffi.gc(handle[0], C.ps_node_free))
   made.was_created = true
   tracing.begin(made.handle, options.trace_keys)
   return made
end

-- server:worker{base = 1}: create a worker of this node, for use by one thread.
function Node:worker(options)
   options = arguments.named('server:worker', options or {}, WORKER, 'server:worker{base = 0}')
   return worker.new(self, options.base, false)
end

-- server:table(name, {dim =, num_keys =, capacity =, dtype = 'float32', optimizer =, initializer =, memory_limit =
-- 0, eviction =, max_age =, admission =, hash =, timeout = 300}): a named table of the server, made on all nodes if
-- there is none of the name. It is a node of its own: its keys, values, optimizer and memory are apart from those of
-- the server and of other tables. Its method :worker gives it workers; kv:table(name) does so for a worker of the
-- server. Every process of every node can name it, in Lua and in Python, with the same options or, to wait until
-- another process has made it, with its name alone. The table ends with server:drop_table or with the server, not with
-- this object.
--
-- - name: 1 to 63 letters, digits, '_', '-' and '.'.
-- - dim: the number of elements of each value; without num_keys also a table or tensor with the lengths of classes of
--   keys: see luaps.classed_keys.
-- - hash: 'xxh64': keys are strings, which stand for their hashes (see luaps.hashed_key).
-- - timeout: seconds to wait for all nodes, or for another process to make the table.
--
-- The others are as for luaps.server: without num_keys, keys are arbitrary int64 except -1. The process that created
-- the server needs the ZeroMQ library. A program that has attached calls kv.node:table.
function Node:table(name, options)
   if self.was_created then
      check(C.ps_load_zmq(nil))
   end
   local opened = tables.open(self.handle, name, options)
   return new(opened, name, tables.options(self.handle, name):match(' hash=(%S+)'))
end

-- End a named table on all nodes: its values are gone, and calls of its workers raise an error. `timeout`: seconds to
-- wait, default 300.
function Node:drop_table(name, timeout)
   tables.drop(self.handle, name, timeout)
end

-- The names of the tables that work on this node, sorted.
function Node:table_names()
   return tables.names(self.handle)
end

-- The address at which processes of this user on this host attach. The first call starts a native thread that listens
-- there.
function Node:address()
   if self.was_created then
      C.ps_load_zmq(nil) -- for tables, which those processes may ask for; without ZeroMQ only they are refused
   end
   local address = ffi.new('char[?]', ADDRESS_BYTES)
   check(C.ps_node_listen(self.handle, address, ADDRESS_BYTES))
   return ffi.string(address)
end

members.add(Node)

Node.enable_sampling_support = sampling.enable

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
   return self.info.places > 1 or not self:num_keys()
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

-- Leave a cluster that goes on without this node, and shut it down: its keys move to the other nodes, for at most
-- `timeout` seconds (300). Nothing is lost. It needs `replicas`; pyps.Server.leave has more.
function Node:leave(timeout)
   check(waiting.stay(self.handle, waiting.limit(timeout), C.ps_node_hand_over))
   self:shutdown(0)
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
   local what = self.name and string.format("table '%s'", self.name) or 'node'
   return string.format('luaps %s: %s keys, value_length %s, %s, %s', what, tostring(self:num_keys() or 'any'),
      tostring(self:value_length() or 'varying'), self:dtype(), self:is_open() and 'open' or 'shut down')
end

names.add(Node)

return node
