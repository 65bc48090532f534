-- Windows of kW frames, dW apart, in sequences of frames: frames x numbers, with a batch before them or without.
local shape = require 'nn.shared.shape'

local frames = {}

-- How many windows there are; is there a batch?
function frames.count(self, input)
   local batch = shape.batched(input, 2)
   shape.atleast('kernel size', 'k', 'W', {self.kW}, 1)
   shape.atleast('stride', 'd', 'W', {self.dW}, 1)
   local length = input:size(batch and 2 or 1)
   if length < self.kW then
      error(string.format('input sequence smaller than kernel size. Got: %d, Expected: %d', length, self.kW), 0)
   end
   return shape.places(length, self.kW, self.dW, 0, 1), batch
end

-- Frame k (from 0) of each of n windows.
function frames.slice(self, batch, k, n)
   local last = batch:narrow(2, k + 1, (n - 1) * self.dW + 1)
   return self.dW == 1 and last or last:unfold(2, 1, self.dW):select(4, 1)
end

-- Sequences as images of one plane: what torch's kernels for windows in images take.
function frames.image(t, batch)
   return batch and t:view(t:size(1), 1, t:size(2), t:size(3)) or t:view(1, 1, t:size(1), t:size(2))
end

return frames
