-- Sampling: keys that the server draws at random, with their values. Adds methods to Worker and Node.
local ffi = require 'ffi'
local C = require 'luaps.library'
local arguments = require 'luaps.arguments'
local elements = require 'luaps.elements'
local errors = require 'luaps.errors'
local lists = require 'luaps.lists'
local values = require 'luaps.values'
local waiting = require 'luaps.waiting'

local raise, required = errors.raise, arguments.required
local ASYNC = tonumber(C.PS_ASYNC)
local KEYS = elements.fixed('int64', 'drawn keys are int64')
local WEIGHTS = elements.fixed('float64', 'weights are float64')
local memory = ffi.typeof('int64_t[?]')

local sampling = {}

local EXAMPLE = "server:enable_sampling_support{scheme = 'local', distribution = 'uniform'}"
local OPTIONS = {
   scheme = required,
   distribution = required,
   with_replacement = true,
   base = 1,
   min = false,
   max = false,
   weights = false,
   seed = false,
   pool_size = 250,
   pool_uses = 16,
}

local function checkboolean(name, value)
   if type(value) ~= 'boolean' then
      raise('%s must be true or false, got %s', name, errors.shown(value))
   end
   return value
end

-- server:enable_sampling_support{scheme =, distribution =, ...}: let all workers of this node, in every process, draw
-- samples. Call it once.
--
-- - scheme: 'naive', 'preloc', 'pool' or 'local'.
-- - distribution: 'uniform', 'log-uniform' or 'weighted', with weights: one number per key, as numbers in a table, a
--   DoubleTensor or double memory.
-- - with_replacement = false: the keys of one sample are distinct.
-- - min, max: keys from min up to but without max are drawn, counted from base; default: all keys.
-- - seed: a number that gives the same draws in every run.
-- - pool_size, pool_uses: the number of draws in a pool, and how often each is used.
--
-- See pyps.Server.enable_sampling_support.
function sampling.enable(node, options)
   options = arguments.named('enable_sampling_support', options, OPTIONS, EXAMPLE)
   local base = arguments.base(options.base)
   local weights, count, standin
   if options.weights then
      weights, count, standin = values.open(options.weights, WEIGHTS, false)
   end
   local scheme = arguments.text('scheme', options.scheme)
   local distribution = arguments.text('distribution', options.distribution)
   local given = ffi.new('ps_sampling_options', {
      size = ffi.sizeof('ps_sampling_options'),
      scheme = scheme,
      distribution = distribution,
      min = arguments.whole('min', options.min or base) - base,
      max = arguments.whole('max', options.max or (node:num_keys() or 0) + base) - base,
      weights = weights and ffi.cast('const double *', weights),
      num_weights = count or 0,
      has_seed = options.seed and 1 or 0,
      seed = ffi.cast('int64_t', arguments.whole('seed', options.seed or 0)),
      with_replacement = checkboolean('with_replacement', options.with_replacement) and 1 or 0,
      pool_size = arguments.whole('pool_size', options.pool_size, 1, 2^31 - 1),
      pool_uses = arguments.whole('pool_uses', options.pool_uses, 1, 2^31 - 1),
   })
   local code = C.ps_node_enable_sampling(node.handle, given)
   errors.check(code, nil, scheme, distribution, standin) -- keeps the memory that `given` points at alive until here
end

local function checkid(id)
   return arguments.whole('the number of the sample', id)
end

-- The memory for the drawn keys, their number, and the copy that is used instead of `keys`, if there is one.
local function openkeys(keys)
   if lists.is(keys) and next(keys) == nil then
      raise('keys: an empty table does not say how many; use a torch.LongTensor, or put numbers in their places')
   end
   return values.open(keys, KEYS, true)
end

-- The same for the values. A copy has all old elements too, because it is copied back as a whole.
local function openvalues(self, value, n)
   if not lists.is(value) then
      return values.open(value, self.element, true)
   elseif next(value) ~= nil then
      return values.open(value, self.element, false)
   end
   local length = self.node:value_length()
   if not length then
      raise('values: how many there will be is not known, as keys have values of different lengths; use a tensor')
   end
   return values.open(value, self.element, true, n * length)
end

-- Add the methods to Worker. `call(self, run, ...)` runs a function of ps.h for a worker of this process,
-- `callwithin(self, limit, run, ...)` does so for at most `limit` seconds, and `submit(self, async, limit, run, ...)`
-- runs one that has a buffer and returns its timestamp.
function sampling.add(Worker, call, callwithin, submit)
   -- Draw a sample of `n` keys that will be pulled in clocks [start, stop), or in clock `start`. Returns the number
   -- that names the sample. `timeout` as for intent.
   function Worker:prepare_sample(n, start, stop, timeout)
      local first = arguments.whole('start', start)
      local last = stop == nil and 0 or arguments.whole('stop', stop)
      local limit = waiting.given(timeout)
      callwithin(self, limit, C.ps_prepare_sample, arguments.whole('n', n), first, last, self.number)
      return tonumber(self.number[0])
   end

   -- Pull the next keys of a sample and their values. `keys` gets as many as it has room for, before the call returns;
   -- `value` may have more room than needed. Returns a timestamp, as pull does. The sample is finished when all its
   -- keys were pulled. `timeout` as for pull.
   function Worker:pull_sample(id, keys, value, async, timeout)
      local limit = waiting.given(timeout)
      if async ~= nil then
         checkboolean('async', async)
      end
      local to, n, keysin = openkeys(keys)
      local data, length, standin = openvalues(self, value, n)
      if async and not standin and self.node:has_server() and elements.tensorclass(value) then
         standin = values.twin(value):copy(value)
         data = standin:data()
      end
      local drawn = memory(n)
      local timestamp = submit(self, async, limit, C.ps_pull_sample, checkid(id), drawn, n, data, length,
         async and ASYNC or 0, self.stamp)
      C.ps_shift_keys(ffi.cast('int64_t *', to), drawn, n, -self.base)
      if keysin then
         values.fill(keys, keysin, KEYS)
      end
      if timestamp >= 0 then
         self.pending:keep(timestamp, value, standin)
      elseif standin then
         values.fill(value, standin, self.element)
      end
      return timestamp
   end

   -- Drop a sample whose remaining keys will not be pulled. Dropping a finished sample does nothing.
   function Worker:finish_sample(id)
      call(self, C.ps_finish_sample, checkid(id))
   end
end

return sampling
