-- The k largest of each number over all frames, in their order in time; k is `factor` of the frames, at least minK.
local shape = require 'nn.shared.shape'

local TemporalDynamicKMaxPooling, parent = torch.class('nn.TemporalDynamicKMaxPooling', 'nn.Module')

function TemporalDynamicKMaxPooling:__init(minK, factor)
   parent.__init(self)
   self.minK = minK
   self.factor = factor or 0
end

function TemporalDynamicKMaxPooling:updateOutput(input)
   if input:dim() ~= 2 and input:dim() ~= 3 then
      error('Only 2D or 3D(batch mode) accepted, got ' .. shape.text(input))
   end
   local time = input:dim() - 1
   local k = math.max(self.minK, math.ceil(self.factor * input:size(time)))
   if input:size(time) < k then
      error(string.format('Input sequence length (%d) too small for desired k value (%d)', input:size(time), k))
   end
   local _, order = input:sort(time, true)
   self.indices = order:narrow(time, 1, k):sort(time)
   self.output = input:gather(time, self.indices)
   return self.output
end

function TemporalDynamicKMaxPooling:updateGradInput(input, gradOutput)
   if self.gradInput then
      local time = input:dim() - 1
      self.gradInput:resizeAs(input):zero()
      return self.gradInput:scatter(time, self.indices:long(), gradOutput)
   end
end

function TemporalDynamicKMaxPooling:clearState()
   nn.utils.clear(self, 'indices')
   return parent.clearState(self)
end
