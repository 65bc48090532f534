-- Streams of a device, which torch makes: what is behind the numbers of cutorch.streams.
local native = require 'bridge.native'

return function(kind)
   local streams = {}

   -- Run what comes in stream i of the current device; 0 is the one that is there from the beginning.
   function streams.use(i)
      native.python('cutorch.use_stream', kind, i)
   end

   function streams.synchronize(i)
      native.python('cutorch.synchronize_stream', kind, i)
   end

   -- What comes in stream i (of a device, from 1; nil: the current one) waits for what is in stream j.
   function streams.wait(i, j, id, other)
      native.python('cutorch.wait_stream', kind, i, j, id and id - 1, other and other - 1)
   end

   -- A mark in the current stream; with `event`, that one, set again.
   function streams.record(event)
      return native.python('cutorch.record', kind, event)
   end

   function streams.await(event)
      native.python('cutorch.wait_event', kind, event)
   end

   function streams.finish(event)
      native.python('cutorch.finish', event)
   end

   function streams.passed(event)
      return native.python('cutorch.passed', event)
   end

   return streams
end
