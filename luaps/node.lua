-- Node: the store of parameters of this host, created by this process or attached to.
local ffi = require 'ffi'
local C = require 'luaps.library'
local arguments = require 'luaps.arguments'
local elements = require 'luaps.elements'
local errors = require 'luaps.errors'
local keys = require 'luaps.keys'
local worker = require 'luaps.worker'

local check = errors.check
local ADDRESS_BYTES = 128
local WORKER = {base = 1}

local Node = {}
Node.__index = Node

local function new(handle)
   local info = ffi.new('ps_node_info')
   check(C.ps_node_get_info(handle, info))
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
   local lengths, count = keys.read(keys.scratch(), options.value_length, 0, 'value_length')
   local created = ffi.new('ps_node_options', {
      num_keys = arguments.whole('num_keys', options.num_keys),
      value_lengths = lengths,
      num_lengths = count,
      dtype = element.number,
      max_workers = arguments.whole('max_workers', options.max_workers, 1, 2^31 - 1),
      num_workers = arguments.whole('num_workers', options.num_workers, 0, 2^31 - 1),
      memory_limit = arguments.whole('memory_limit', options.memory_limit, 0),
      latch_timeout = arguments.seconds('latch_timeout', options.latch_timeout),
   })
   local handle = ffi.new('ps_node *[1]')
   check(C.ps_node_create(created, handle))
   return new(ffi.gc(handle[0], C.ps_node_free))
end

-- server:worker{base = 1}: a new worker of this node, for one thread.
function Node:worker(options)
   options = arguments.named('server:worker', options or {}, WORKER, 'server:worker{base = 0}')
   return worker.new(self, options.base, false)
end

-- Where processes of this user on this host attach; from the first call on, a native thread listens.
function Node:address()
   local address = ffi.new('char[?]', ADDRESS_BYTES)
   check(C.ps_node_listen(self.handle, address, ADDRESS_BYTES))
   return ffi.string(address)
end

function Node:num_keys()
   return tonumber(self.info.num_keys)
end

-- How many elements every key's value has; nil if they differ.
function Node:value_length()
   local length = tonumber(self.info.value_length)
   return length > 0 and length or nil
end

-- The name of the element type.
function Node:dtype()
   return self.element.name
end

-- How many elements a key's value has, where the first key is called `base`.
function Node:length_of(key, base)
   local data, n = keys.read(self.scratch, key, base, 'key')
   if n ~= 1 then
      errors.raise('get_key_size expects one key, got %d', n)
   end
   check(C.ps_node_value_length(self.handle, data[0], self.number), base)
   return tonumber(self.number[0])
end

-- Is it in use? False once the server was shut down.
function Node:is_open()
   return C.ps_node_is_open(self.handle) ~= 0
end

-- Close the store, for every worker if this process created it. May be called again.
function Node:shutdown()
   check(C.ps_node_shutdown(self.handle))
end

function Node:__tostring()
   return string.format('luaps node: %d keys, value_length %s, %s, %s', self:num_keys(),
      tostring(self:value_length() or 'varying'), self:dtype(), self:is_open() and 'open' or 'shut down')
end

return node
