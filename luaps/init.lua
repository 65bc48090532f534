-- luaps: the Lua client of the parameter server. It needs LuaJIT and libps, but neither Torch nor Python.
--
--    local luaps = require 'luaps'
--    local kv = luaps.worker{address = 'unix:@pyps-...'}     -- what server.address is in Python
--    local keys, values = torch.LongTensor{3, 7}, torch.FloatTensor(2, 10)
--    kv:pull(keys, values)                                    -- reads
--    kv:push(keys, values:fill(0.1))                          -- adds
--    kv:finalize()
--
-- A bridge.Lua finds this module by itself. For a plain LuaJIT set LUA_PATH, and also LUAPS_LIBPS unless libps is in
-- the directory pyps/ beside these files: `eval "$(moontide paths --shell)"` sets both.
--
-- Keys are counted from 1 (with base = 0 from 0, as in Python). They may be a number, a table, a tensor of whole
-- numbers or FFI memory. Values may be tensors of the server's element type, of any shape; FFI memory, that is, an
-- array or luaps.buffer(pointer, n); or plain tables of numbers, in which a pull fills positions 1 to n.
--
-- With true as third argument pull, push, set and localize return immediately, with a timestamp: see kv:wait(timestamp,
-- ...), kv:is_finished(timestamp), kv:waitall(), and kv:future(timestamp) with its methods :wait() and :done(). Every
-- method name of several words also exists in Torch's spelling: kv:isFinished(timestamp). kv:prepare_sample and
-- kv:pull_sample draw keys, after a call of server:enable_sampling_support{...} here or in Python.
--
-- kv:table('users') works on a named table of the server, which server:table('users', {dim = 64}) makes, here or in
-- Python; a program that has attached calls kv.node:table.
--
-- A call with a wrong argument raises an error that begins with 'luaps: ' and changes nothing.
local arguments = require 'luaps.arguments'
local buffer = require 'luaps.buffer'
local distributed = require 'luaps.distributed'
local errors = require 'luaps.errors'
local keys = require 'luaps.keys'
local lengthclasses = require 'luaps.lengthclasses'
local names = require 'luaps.names'
local node = require 'luaps.node'
local sharedtensor = require 'luaps.sharedtensor'
local worker = require 'luaps.worker'

local required = arguments.required

local luaps = {buffer = buffer.new}

local WORKER = {address = required, base = 1, timeout = 10}

-- luaps.worker{address=, base = 1, timeout = 10}: attach to the server of another process, or of this one, and become
-- one of its workers. `timeout`: seconds to wait until the server answers.
function luaps.worker(options)
   options = arguments.named('worker', options, WORKER, "luaps.worker{address = 'unix:@pyps-...'}")
   arguments.base(options.base)
   return worker.new(node.attach(options.address, options.timeout), options.base, true)
end

local SERVER = {
   num_keys = false,
   capacity = false,
   value_length = 1,
   dtype = 'float32',
   max_workers = 256,
   num_workers = 0,
   memory_limit = 0,
   latch_timeout = 10,
   num_nodes = 1,
   rank = 0,
   techniques = 'auto',
   cluster = 0,
   heartbeat = 0.5,
   lost_after = 3,
   on_loss = 'fail',
   in_flight = 0,
   server_threads = 1,
   replicas = 0,
   places = false,
   optimizer = false,
   initializer = false,
   eviction = false,
   max_age = false,
   admission = false,
   compression = false,
   trace_keys = {},
}

-- luaps.server{num_keys=, ...}: create a store in this process; values begin as zeros. Its methods are
-- :worker{base = 1}, :address(), :leave(), :shutdown(). Without num_keys, keys are arbitrary int64 except -1: they are
-- never shifted by `base`, and take memory from their first use on.
--
-- - capacity: without num_keys, how many keys this node can hold or know the location of; default 1000000.
-- - value_length: one number, or a table or tensor with one number per key. With capacity several numbers are the
--   lengths of classes of keys, at most 128: see luaps.classed_keys.
-- - dtype: float32, float64, float16, bfloat16, int32 or int64.
-- - max_workers: how many workers there may be at the same time.
-- - num_workers: barriers wait until so many workers have joined.
-- - memory_limit: bytes of shared memory, with the copies that replicas keep of other nodes' keys; 0: what the host
--   has.
-- - latch_timeout: seconds after which it is an error that another worker holds a key.
-- - num_nodes, rank: how many nodes share the keys, and the number of this one; call :bind and :connect afterwards.
-- - techniques: what an intent may cause, 'all', 'replication_only' or 'relocation_only'; 'auto': what 'all' does, but
--   intents of at most 8 clocks are skipped while the node finds that clocks advance faster so.
-- - cluster: a number that is the same on all nodes that belong together.
-- - heartbeat, lost_after: seconds between signs of life, and seconds of silence after which a node is lost.
-- - on_loss: 'fail', or 'continue' to go on with the keys that the other nodes hold.
-- - in_flight: how many bytes each worker may have under way between nodes before its calls wait; 0: 64 MiB.
-- - server_threads: how many threads divide this node's keys among them; the same on all nodes.
-- - replicas: how many other nodes keep a copy of each key, so that nothing that was acknowledged is lost with as many
--   nodes; on_loss is 'continue' then, and there is neither eviction nor max_age. The same on all nodes.
-- - places: with replicas, how many nodes there may ever be, by default num_nodes: others can :join while the cluster
--   works, with the ranks from num_nodes on, each of which is given once. The same on all nodes.
-- - optimizer: what is done with pushes, which then bring gradients, for example 'adagrad:lr=0.1' or
--   {'adagrad', lr = 0.1}; without it pushes add. The same on all nodes. See :optimizer and :tune.
-- - initializer: what values begin with, instead of zeros, for example 'normal:std=0.01,seed=7' or
--   {'uniform', low = -0.1, high = 0.1}; it depends on the seed and the key only. The same on all nodes.
-- - eviction: without num_keys, which keys go when new ones need room that capacity or memory_limit does not leave:
--   'lru' (not used for the longest time), 'lfu' (used the fewest times) or 'age' (not pushed or set for the longest
--   time); without it such a call raises an error. The same on all nodes.
-- - max_age: without num_keys, seconds, at least 0.1: keys that were not pulled, pushed or set for so long go by
--   themselves, with eviction 'age' those that were not pushed or set. The same on all nodes.
-- - admission: without num_keys, how often a key is used before it exists, 1 (the default) to 255. A call that pulls or
--   pushes the key is a use. Until the use with this number a pull gives the value that the key will begin with, and a
--   push is dropped; localize and intents do nothing. A set makes the key at once. The same on all nodes.
-- - compression: how what is pushed to replicas becomes shorter on its way to the owners, for float32 and float64:
--   'bfloat16', which rounds each element, or 'top_k:share=0.1' or {'top_k', share = 0.1}, which sends the largest
--   tenth of them. What is left out goes with later pushes, or with wait_sync and quiesce. The same on all nodes.
-- - trace_keys: keys, counted from 1, or 'all', whose history on this node :trace returns.
--
-- With several nodes, without num_keys and for named tables the ZeroMQ library is needed: the file that the environment
-- variable PYPS_ZMQ names, or else the system's library.
function luaps.server(options)
   local example = 'luaps.server{num_keys = 1000, value_length = 10}'
   return node.create(arguments.named('server', options, SERVER, example))
end

-- Open the tensor that a process of this user holds under this name (wm.name_of in Python): a torch tensor on the same
-- memory.
function luaps.sharedtensor(name)
   return sharedtensor.open(name)
end

-- The same without torch: a table with data (a typed FFI pointer), size, stride and dtype.
function luaps.sharedmemory(name)
   return sharedtensor.memory(name)
end

-- Move a module's parameters into memory that other processes share, and return the name of that memory. With a name
-- that luaps.share (or pyps.share in Python) has returned in another process, the module uses that memory for its
-- parameters instead. All these processes see every update in place. Call getParameters before and not after: it would
-- move the parameters to other memory.
function luaps.share(module, name)
   return sharedtensor.share(module, name)
end

-- luaps.distributed(module, kv, {optimizer =, name = 'model', timeout = 300}): let a Torch7 module learn together with
-- others, in Lua and in Python (pyps.nn.Distributed), where each has made the same architecture. The parameters are in
-- the server's table `name`; the first worker sets the values that training begins with, and all others take them.
-- Workers do not wait for each other. The result has :step(compute), and its parts :pull() and :push().
--
-- - module: its parameters are tensors of one type; they stay the same tensors.
-- - kv: a worker of the server.
-- - optimizer: of the table, as for luaps.server; the same in all workers.
-- - timeout: seconds to wait for the first worker and for all nodes.
function luaps.distributed(module, kv, options)
   return distributed.new(module, kv, options)
end

-- luaps.classed_keys(number, ids): the keys of the length class `number`, counted from 0, for a server with several
-- lengths and a capacity. The topmost byte of such a key says which length its value has, and the other 56 bits are the
-- id, from 0 up to, not including, 2^56. A number or int64 gives an int64, a torch tensor a LongTensor of the same
-- size, a table of numbers a table of int64, and FFI memory an array of int64.
function luaps.classed_keys(number, ids)
   return lengthclasses.keys(number, ids)
end

-- luaps.hashed_key(text): the key that stands for a string in a table with hash = 'xxh64', as an int64.
function luaps.hashed_key(text)
   if type(text) ~= 'string' then
      errors.raise('text must be a string, got %s', errors.shown(text))
   end
   return keys.hashed(text)
end

names.add(luaps)

return luaps
