-- Bytes to and from a connection. Waits are slices, so that Ctrl-C is heard. Every failure closes the connection,
-- because it is then unknown at which place of the stream the connection is.
local ffi = require 'ffi'
local native = require 'bridge.native'
require 'sys'

local C = native.C
local SLICE = 0.1 -- seconds of waiting between two looks for Ctrl-C, and for the end of the process

local now = ffi.new('sys_timeval')

local transfer = {slice = SLICE}

-- Seconds by the monotonic clock, which is never set to another time.
function transfer.clock()
   C.sys_clock_gettime(1, now)
   return tonumber(now.seconds) + tonumber(now.fraction) * 1e-9
end

-- Let Python handle signals such as Ctrl-C, after a wait that brought nothing.
function transfer.heed()
   if native.heed_signals then
      native.heed_signals()
   end
end

-- Wait, for a part of a second.
function transfer.pause(seconds)
   C.br_net_readable(nil, 0, 0, nil, seconds)
   transfer.heed()
end

-- Words for a code of bridge/core/threads/net.h that is no success.
function transfer.reason(code)
   if code == C.BR_NET_EOF then
      return 'the other side has closed the connection'
   elseif code == C.BR_CLOSED then
      return 'the process is ending'
   end
   return ffi.string(C.br_net_message(code))
end

-- Let go of a connection and raise an error about it.
function transfer.abandon(self, what, reason)
   self:close()
   error(string.format('ipc: %s %s: %s', what, self.peer, reason), 0)
end

local function count(stats, counter, before, began)
   stats.num_bytes = stats.num_bytes + tonumber(counter[0] - before)
   stats.num_system_calls = stats.num_system_calls + 1
   stats.system_seconds = stats.system_seconds + transfer.clock() - began
end

-- Receive bytes `counter[0]` to n at `to`. True when all are there; false when there are no more yet and the caller
-- does not wait.
function transfer.receive(self, to, n, counter, wait)
   while true do
      local began, before = transfer.clock(), counter[0]
      local code = C.br_net_receive(self.descriptor, to, n, counter, wait and SLICE or 0)
      count(self.stats.rx, counter, before, began)
      if code == C.BR_DONE then
         return true
      elseif code ~= C.BR_TIMEOUT then
         transfer.abandon(self, 'receiving from', transfer.reason(code))
      end
      transfer.heed()
      if not wait then
         return false
      end
   end
end

-- Send a head, and n bytes at `data`.
function transfer.send(self, head, nhead, data, n)
   local counter = ffi.new('int64_t[1]')
   self.busy = true -- until everything is sent: an interrupted program must not go on in the middle
   while true do
      local began, before = transfer.clock(), counter[0]
      local code = C.br_net_send(self.descriptor, head, nhead, data, n, counter, SLICE)
      count(self.stats.tx, counter, before, began)
      if code == C.BR_DONE then
         break
      elseif code ~= C.BR_TIMEOUT then
         transfer.abandon(self, 'sending to', transfer.reason(code))
      end
      transfer.heed()
   end
   self.busy = false
end

return transfer
