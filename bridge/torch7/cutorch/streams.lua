-- Streams and BLAS handles: their numbers, which are kept and checked here. What a stream does, and what waiting for it
-- means, is the backend's.
return function(cutorch, backend)
   -- reserveXs(n), getNumXs(), setX(i), getX(): numbers from `first` to how many are reserved.
   local streams = backend.streams

   local function numbered(one, many, first, initial, use)
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
         use(i)
      end

      cutorch['get' .. one] = function()
         return current
      end

      return check, function()
         current = initial
         use(initial)
      end
   end

   local stream, default = numbered('Stream', 'Streams', 0, 0, streams.use)
   cutorch.setDefaultStream = default
   numbered('BlasHandle', 'BlasHandles', 1, 1, function() end) -- torch has one per stream by itself

   function cutorch.streamSynchronize(i)
      stream('streamSynchronize', i)
      streams.synchronize(i)
   end

   -- streamWaitFor(i, {j, ...}): what comes in stream i waits for what is in the others.
   function cutorch.streamWaitFor(i, others)
      stream('streamWaitFor', i)
      for _, other in ipairs(others) do
         streams.wait(i, stream('streamWaitFor', other))
      end
   end

   -- What comes in each of the streams waits for what is in all of them.
   function cutorch.streamBarrier(list)
      for _, other in ipairs(list) do
         streams.wait(list[1], stream('streamBarrier', other))
      end
      for k = 2, #list do
         streams.wait(list[k], list[1])
      end
   end

   -- Every stream of lists by device, checked: {device, stream} each.
   local function every(name, devices)
      local all = {}
      for id, list in pairs(devices) do
         cutorch._device(name, id)
         for _, i in ipairs(list) do
            all[#all + 1] = {id, stream(name, i)}
         end
      end
      return all
   end

   -- The same across devices: lists of streams by device.
   function cutorch.streamBarrierMultiDevice(devices)
      local all = every('streamBarrierMultiDevice', devices)
      local first = all[1]
      for k = 2, #all do
         streams.wait(first[2], all[k][2], first[1], all[k][1])
      end
      for k = 2, #all do
         streams.wait(all[k][2], first[2], all[k][1], first[1])
      end
   end

   function cutorch.streamWaitForMultiDevice(id, i, devices)
      cutorch._device('streamWaitForMultiDevice', id)
      stream('streamWaitForMultiDevice', i)
      for _, other in ipairs(every('streamWaitForMultiDevice', devices)) do
         streams.wait(i, other[2], id, other[1])
      end
   end

   -- cutorch.Event(): a mark behind what is in the current stream.
   local Event = torch.class('cutorch.Event', cutorch)

   function Event:__init()
      if backend.count == 0 then
         backend.refuse('cutorch.Event')
      end
      self:record()
   end

   function Event:record()
      self.stream = cutorch.getStream()
      self.mark = streams.record(self.mark)
      return self
   end

   -- What comes in the current stream waits for the mark.
   function Event:waitOn()
      streams.await(self.mark)
      return self
   end

   function Event:synchronize()
      streams.finish(self.mark)
      return self
   end

   function Event:query()
      return streams.passed(self.mark)
   end
end
