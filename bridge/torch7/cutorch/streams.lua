-- Streams and BLAS handles. The CPU does one thing after the other, so that waiting for a stream is over at once; the
-- numbers are kept, and checked, as programs count on them.
return function(cutorch, backend)
   -- reserveXs(n), getNumXs(), setX(i), getX(): numbers from `first` to how many are reserved.
   local function numbered(one, many, first, initial)
      local reserved, current = initial, initial

      local function check(name, i)
         if backend.count == 0 then
            backend.refuse('cutorch.' .. name)
         elseif type(i) ~= 'number' or i < first or i > reserved or i ~= math.floor(i) then
            error(string.format("bad argument #1 to '%s' (%s between %d and %d expected, got %s; cutorch.reserve%s " ..
               'makes more)', name, one, first, reserved, tostring(i), many), 3)
         end
         return i
      end

      cutorch['reserve' .. many] = function(n)
         if backend.count == 0 then
            backend.refuse('cutorch.reserve' .. many)
         elseif type(n) ~= 'number' or n < 0 then
            error(string.format("bad argument #1 to 'reserve%s' (number expected, got %s)", many, tostring(n)), 2)
         end
         reserved = math.max(reserved, n)
      end

      cutorch['getNum' .. many] = function()
         return reserved
      end

      cutorch['set' .. one] = function(i)
         current = check('set' .. one, i)
      end

      cutorch['get' .. one] = function()
         return current
      end

      return check, function()
         current = initial
      end
   end

   local stream, default = numbered('Stream', 'Streams', 0, 0)
   cutorch.setDefaultStream = default
   numbered('BlasHandle', 'BlasHandles', 1, 1)

   function cutorch.streamSynchronize(i)
      stream('streamSynchronize', i)
   end

   -- streamWaitFor(i, {j, ...}): what comes in stream i waits for what is in the others.
   function cutorch.streamWaitFor(i, others)
      stream('streamWaitFor', i)
      for _, other in ipairs(others) do
         stream('streamWaitFor', other)
      end
   end

   function cutorch.streamBarrier(streams)
      for _, other in ipairs(streams) do
         stream('streamBarrier', other)
      end
   end

   -- The same across devices: lists of streams by device.
   function cutorch.streamBarrierMultiDevice(devices)
      for id, streams in pairs(devices) do
         cutorch._device('streamBarrierMultiDevice', id)
         cutorch.streamBarrier(streams)
      end
   end

   function cutorch.streamWaitForMultiDevice(id, i, devices)
      cutorch._device('streamWaitForMultiDevice', id)
      stream('streamWaitForMultiDevice', i)
      cutorch.streamBarrierMultiDevice(devices)
   end

   -- cutorch.Event(): a mark in a stream; on this device all marks have been passed.
   local Event = torch.class('cutorch.Event', cutorch)

   function Event:__init()
      if backend.count == 0 then
         backend.refuse('cutorch.Event')
      end
      self.stream = cutorch.getStream()
   end

   function Event:record()
      self.stream = cutorch.getStream()
      return self
   end

   function Event:waitOn()
      return self
   end

   function Event:synchronize()
      return self
   end

   function Event:query()
      return true
   end
end
