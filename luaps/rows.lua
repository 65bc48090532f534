-- Rows: which keys have one, on any node or on this one. Worker's methods use these functions.
local ffi = require 'ffi'
local C = require 'luaps.library'
local arguments = require 'luaps.arguments'
local clock = require 'luaps.clock'
local errors = require 'luaps.errors'
local keys = require 'luaps.keys'
local waiting = require 'luaps.waiting'

local KEYS_AT_ONCE = 65536 -- that kv:keys gives, as in pyps

local rows = {}

-- Ask about the rows of keys with a function of ps.h, and wait for the answers: returns them, a byte per key, and the
-- number of keys. If a Lua error ends the wait, the answers are kept until the operation is abandoned.
-- `callwithin(worker, limit, run, ...)` runs a function of ps.h for at most `limit` seconds.
function rows.ask(worker, callwithin, run, given, timeout)
   local limit = waiting.limit(timeout)
   local stop = clock() + limit
   local data, n = keys.read(worker.scratch, given, worker.base, 'keys')
   local answers = ffi.new('uint8_t[?]', math.max(n, 1))
   callwithin(worker, limit, run, data, n, answers, worker.number)
   if worker.number[0] >= 0 then
      worker.answers, worker.stamp[0], worker.waits = answers, worker.number[0], true
      local code = waiting.answer(worker.handle, tonumber(worker.number[0]), limit, stop)
      worker.waits = false
      errors.check(code, worker.base)
   end
   return answers, n
end

-- An iterator over the keys that live on the worker's node, in buffers of at most `chunk`. `call(worker, run, ...)`
-- runs a function of ps.h.
function rows.here(worker, call, chunk)
   local most = arguments.whole('chunk', chunk or KEYS_AT_ONCE, 1)
   local found, at, count = ffi.new('int64_t[?]', most), ffi.new('int64_t[1]'), ffi.new('int64_t[1]', most)
   return function()
      if count[0] < most then
         return nil
      end
      call(worker, C.ps_find_keys, C.PS_KEYS_HERE, at, found, most, count)
      return count[0] > 0 and keys.copy(found, tonumber(count[0]), worker.base) or nil
   end
end

return rows
