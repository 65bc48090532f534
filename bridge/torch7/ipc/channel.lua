-- ipc.channel(): a line of values that any thread writes to and reads from, until it is closed.
local torch = require 'torch'
local ffi = require 'ffi'
local native = require 'bridge.native'
local Queue = require 'threads.queue'
local sharedserialize = require 'threads.sharedserialize'
local closures = require 'ipc.closures'

local C = native.C
local SERIALIZE = 'threads.sharedserialize'

local home = {}
local Channel = torch.class('ipc.channel', home)

sharedserialize.reference('ipc.channel', C.br_queue_release, function(self)
   return C.br_queue_find(self.queue:id())
end, function(self, pointer)
   self.queue = Queue.find(C.br_queue_id(ffi.cast('br_queue *', pointer)), SERIALIZE)
end)

-- What becomes of a channel: it is open; closed, with values left; and drained.
local channel = {OPEN = 0, CLOSED = 1, DRAINED = 2}

local function status(self)
   if C.br_queue_closed(self.queue.queue) == 0 then
      return channel.OPEN
   end
   return C.br_queue_count(self.queue.queue) > 0 and channel.CLOSED or channel.DRAINED
end

-- Write values, each for one read; the channel's status: where that is not OPEN, not all of them were written.
function Channel:write(...)
   closures('require what it needs inside of it', ...)
   for i = 1, select('#', ...) do
      if not self.queue:put((select(i, ...)), 0) then
         break
      end
   end
   return status(self)
end

-- The status and the next value. Waits for one, unless told not to (true), or the channel is drained.
function Channel:read(donotblock)
   local before = status(self)
   local message
   if donotblock then
      message = self.queue:poll()
   else
      message = self.queue:take()
   end
   if message then
      return before == channel.DRAINED and channel.CLOSED or before, self.queue:open(message)
   end
   before = status(self)
   if before == channel.OPEN and not donotblock then
      error('the process is ending', 2)
   end
   return before
end

function Channel:num_items()
   return tonumber(C.br_queue_count(self.queue.queue))
end

-- Nothing is written any more.
function Channel:close()
   self.queue:close()
   return status(self)
end

function Channel:closed()
   return status(self) ~= channel.OPEN
end

function Channel:drained()
   return status(self) == channel.DRAINED
end

return setmetatable(channel, {
   __call = function()
      local self = torch.factory('ipc.channel')()
      self.queue = Queue(2^53, SERIALIZE)
      return self
   end
})
