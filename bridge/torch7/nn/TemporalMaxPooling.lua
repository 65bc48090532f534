-- The maximum of each number over kW frames, dW further for the next.
local aten = require 'torch.aten'
local shape = require 'nn.shared.shape'
local frames = require 'nn.shared.frames'
local pooling = require 'nn.shared.pooling'
local longs = require 'nn.shared.longs'

local TemporalMaxPooling, parent = torch.class('nn.TemporalMaxPooling', 'nn.Module')

local forward = aten.op('max_pool2d_with_indices.out', 'TIIIIbTT', 2)
local backward = aten.op('max_pool2d_with_indices_backward.grad_input', 'TTIIIIbTT')

function TemporalMaxPooling:__init(kW, dW)
   parent.__init(self)
   self.kW = kW
   self.dW = dW or kW
end

-- The first frame of each of n windows, as large as `like`.
local function starts(self, like, n)
   local first = longs.beside(torch.range(0, (n - 1) * self.dW, self.dW), like)
   return (like:dim() == 3 and first:view(1, n, 1) or first:view(n, 1)):expandAs(like)
end

-- `indices` says which frame of its window (from 0) holds the maximum.
function TemporalMaxPooling:updateOutput(input)
   local n, batch = frames.count(self, input)
   local size = input:size(input:dim())
   local to = batch and {input:size(1), n, size} or {n, size}
   shape.resize(self.output, to)
   shape.resize(pooling.indices(self), to)
   forward(frames.image(input:contiguous(), batch), {self.kW, 1}, {self.dW, 1}, {0, 0}, {1, 1}, false,
      frames.image(self.output, batch), frames.image(self.indices, batch))
   self.indices:div(size):add(-1, starts(self, self.indices, n))
   return self.output
end

function TemporalMaxPooling:updateGradInput(input, gradOutput)
   if not self.gradInput then
      return
   end
   local n, batch = frames.count(self, input)
   local indices, size = pooling.indices(self), input:size(input:dim())
   pooling.check(indices, gradOutput)
   self.gradInput:resizeAs(input)
   local numbers = longs.beside(torch.range(0, size - 1), indices)
   if indices:min() < 0 or indices:max() >= self.kW then
      error(string.format('found an invalid max index: they must be from 0 to %d', self.kW - 1), 0)
   end
   local flat = torch.add(indices, starts(self, indices, n)):mul(size)
   flat:add((batch and numbers:view(1, 1, size) or numbers:view(1, size)):expandAs(flat))
   backward(frames.image(gradOutput:contiguous(), batch), frames.image(input:contiguous(), batch), {self.kW, 1},
      {self.dW, 1}, {0, 0}, {1, 1}, false, frames.image(flat, batch), frames.image(self.gradInput, batch))
   return self.gradInput
end

function TemporalMaxPooling:empty()
   return self:clearState()
end

function TemporalMaxPooling:clearState()
   nn.utils.clear(self, 'indices')
   return parent.clearState(self)
end
