-- luaps: the Lua client of the parameter server. Needs LuaJIT and libps, and neither Torch nor Python.
--
--    local luaps = require 'luaps'
--    local kv = luaps.worker{address = 'unix:@pyps-...'}     -- what server.address is in Python
--    local keys, values = torch.LongTensor{3, 7}, torch.FloatTensor(2, 10)
--    kv:pull(keys, values)                                    -- reads
--    kv:push(keys, values:fill(0.1))                          -- adds
--    kv:finalize()
--
-- In a bridge.Lua it is found by itself. In a plain LuaJIT set LUA_PATH, and LUAPS_LIBPS unless libps lies beside these
-- files in pyps/: `eval "$(moontide paths --shell)"` does both.
--
-- Keys are counted from 1 (base = 0: from 0, as in Python): a number, a table, a tensor of whole numbers, FFI memory.
-- Values are tensors of the server's element type, of any shape, or FFI memory: an array, or luaps.buffer(pointer, n);
-- or plain tables of numbers, of which a pull fills positions 1 to n.
--
-- With a third argument true, pull, push, set and localize return at once with a timestamp: kv:wait(timestamp, ...),
-- kv:is_finished(timestamp), kv:waitall(), or kv:future(timestamp) with :wait() and :done(). Every method of several
-- words is there in Torch's spelling too: kv:isFinished(timestamp).
-- kv:prepare_sample and kv:pull_sample draw keys, when server:enable_sampling_support{...}, or its twin in Python, was
-- called.
-- A call that cannot be done raises an error that begins with 'luaps: ' and, for its arguments, changes nothing.
local arguments = require 'luaps.arguments'
local buffer = require 'luaps.buffer'
local node = require 'luaps.node'
local sharedtensor = require 'luaps.sharedtensor'
local worker = require 'luaps.worker'

local required = arguments.required

local luaps = {buffer = buffer.new}

local WORKER = {address = required, base = 1, timeout = 10}

-- luaps.worker{address=, base = 1, timeout = 10}: attach to the server of another process, or of this one, and become a
-- worker of it. `timeout`: seconds to wait for the server's answer.
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
   techniques = 'all',
   cluster = 0,
   heartbeat = 0.5,
   lost_after = 3,
   on_loss = 'fail',
   in_flight = 0,
   server_threads = 1,
   trace_keys = {},
}

-- luaps.server{num_keys=, ...}: a store in this process, with values of zeros. It has :worker{base = 1}, :address(),
-- :shutdown(). Without num_keys keys are any int64 but -1; they are names, which no base shifts, and take memory from
-- their first use on. capacity: of how many of them this node can have the value or know where it is, 1000000 unless
-- said. value_length: one number, or one per key in a table or tensor. dtype: float32, float64, float16,
-- bfloat16, int32 or int64. max_workers: how many there may be at once. num_workers: barriers wait until so many have
-- joined. memory_limit: bytes of shared memory, 0 for what the host has. latch_timeout: seconds until it is an error
-- that another worker holds a key. num_nodes, rank: of a node that shares the keys with others; then :bind and :connect
-- it. techniques: what an intent does, 'all', 'replication_only' or 'relocation_only'. cluster: a number that the nodes
-- share. heartbeat, lost_after: seconds between signs of life, and of silence after which a node is lost. on_loss:
-- 'fail', or 'continue' to go on with the keys that live. in_flight: bytes that each worker may have on their way
-- between nodes before its calls wait, 0 for 64 MiB. server_threads: among which the node shares its keys, as all do.
-- trace_keys: keys, counted from 1, or 'all', of which :trace tells what happened to them here. The ZeroMQ library of
-- such a node is what PYPS_ZMQ names in the environment, else the system's.
function luaps.server(options)
   local example = 'luaps.server{num_keys = 1000, value_length = 10}'
   return node.create(arguments.named('server', options, SERVER, example))
end

-- The tensor that a process of this user holds under this name (wm.name_of in Python), as a torch tensor over the same
-- memory.
function luaps.sharedtensor(name)
   return sharedtensor.open(name)
end

-- The same in a state without torch: a table with data, a typed FFI pointer, size, stride and dtype.
function luaps.sharedmemory(name)
   return sharedtensor.memory(name)
end

-- Move a module's parameters into memory that other processes share, and return its name for them; with the name that
-- another process's luaps.share, or pyps.share in Python, has returned: make that memory the module's parameters. Every
-- update that any of them makes in place, all see. A getParameters afterwards would move them away again.
function luaps.share(module, name)
   return sharedtensor.share(module, name)
end

return luaps
