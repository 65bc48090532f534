-- x where it is positive, a learned slope times x elsewhere: one slope for all, or one for each of nOutputPlane planes.
local bend = require 'nn.shared.bend'

local PReLU, parent = torch.class('nn.PReLU', 'nn.Module')

function PReLU:__init(nOutputPlane)
   parent.__init(self)
   self.nOutputPlane = nOutputPlane or 0
   self.weight = torch.Tensor(nOutputPlane or 1):fill(0.25)
   self.gradWeight = torch.Tensor(nOutputPlane or 1):zero()
end

-- The input as batch x planes x the rest.
local function planes(self, input)
   if self.nOutputPlane == 0 then
      return 1, 1, input:nElement()
   end
   local dimensions = input:dim()
   if dimensions < 1 or dimensions > 5 then
      error('1D to 5D tensor expected, got ' .. dimensions .. ' dimensions', 3)
   end
   local batched = dimensions == 2 or dimensions >= 4
   local batch = batched and input:size(1) or 1
   local count = input:size(batched and 2 or 1)
   if count ~= self.nOutputPlane then
      error(string.format('wrong number of input planes: expected %d, got %d', self.nOutputPlane, count), 3)
   end
   return batch, count, input:nElement() / (batch * count)
end

-- As many slopes as the input has elements.
local function slopes(self, input)
   local batch, count, rest = planes(self, input)
   return self.weight:view(1, count, 1):expand(batch, count, rest)
end

function PReLU:updateOutput(input)
   return bend.prelu(self.output:resizeAs(input), input, input, slopes(self, input))
end

function PReLU:updateGradInput(input, gradOutput)
   return bend.prelu(self.gradInput:resizeAs(input), input, gradOutput, slopes(self, input))
end

function PReLU:accGradParameters(input, gradOutput, scale)
   local batch, count, rest = planes(self, input)
   local products = torch.cmin(input, 0):cmul(gradOutput)
   self.gradWeight:add(scale or 1, products:view(batch, count, rest):sum(3):sum(1):view(count))
end

function PReLU:clearState()
   nn.utils.clear(self, 'gradWeightBuf', 'gradWeightBuf2')
   return parent.clearState(self)
end
