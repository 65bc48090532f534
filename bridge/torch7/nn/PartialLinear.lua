-- nn.Linear of which only some outputs, the partition, are computed, and learn.
local PartialLinear, parent = torch.class('nn.PartialLinear', 'nn.Module')

function PartialLinear:__init(inputsize, outputsize, bias)
   parent.__init(self)
   local pair = nn.ParallelTable():add(nn.Identity()):add(nn.LookupTable(outputsize, inputsize))
   self.network = nn.Sequential():add(pair):add(nn.MM(false, true))
   if bias == nil or bias then
      self.bias = torch.Tensor(1, outputsize):zero()
      self.gradBias = torch.Tensor(1, outputsize):zero()
   end
   self.inputsize = inputsize
   self.outputsize = outputsize
   self.allcolumns = torch.range(1, outputsize)
   self:resetPartition()
end

-- The outputs wanted, a tensor of their numbers.
function PartialLinear:setPartition(indices)
   self.partition = indices:type(self.allcolumns:type())
end

function PartialLinear:resetPartition()
   self.partition = self.allcolumns
end

local function lookuptable(self)
   return self.network:get(1):get(2)
end

function PartialLinear:parameters()
   local lookup = lookuptable(self)
   if self.bias then
      return {lookup.weight, self.bias}, {lookup.gradWeight, self.gradBias}
   end
   return {lookup.weight}, {lookup.gradWeight}
end

function PartialLinear:updateOutput(input)
   self.output:set(self.network:updateOutput{input, self.partition})
   if self.bias then
      local bias = self.bias:index(2, self.partition:long())
      self.output:add(bias:expandAs(self.output))
      self.addBuffer = self.addBuffer or input.new()
      if self.addBuffer:nElement() ~= input:size(1) then
         self.addBuffer:resize(input:size(1)):fill(1)
      end
   end
   return self.output
end

function PartialLinear:updateGradInput(input, gradOutput)
   if self.gradInput then
      self.network:updateGradInput({input, self.partition}, gradOutput)
      self.gradInput:set(self.network.gradInput[1])
   end
   return self.gradInput
end

function PartialLinear:accGradParameters(input, gradOutput, scale)
   scale = scale or 1
   self.network:accGradParameters({input, self.partition}, gradOutput, scale)
   if self.bias then
      self.buffer = self.buffer or input.new()
      self.buffer:resize(gradOutput:size(2)):mv(gradOutput:t(), self.addBuffer):mul(scale)
      self.gradBias:indexAdd(2, self.partition:long(), self.buffer:view(1, -1))
   end
end

function PartialLinear:accUpdateGradParameters(input, gradOutput, lr)
   local lookup = lookuptable(self)
   local gradWeight, gradBias = lookup.gradWeight, self.gradBias
   lookup.gradWeight, self.gradBias = lookup.weight, self.bias
   self:accGradParameters(input, gradOutput, -lr)
   lookup.gradWeight, self.gradBias = gradWeight, gradBias
end

PartialLinear.sharedAccUpdateGradParameters = PartialLinear.accUpdateGradParameters

function PartialLinear:reset(stdv)
   lookuptable(self):reset(stdv)
   if self.bias then
      self.bias:zero()
   end
end

function PartialLinear:__tostring__()
   return string.format('%s(%d -> %d)%s', torch.type(self), self.inputsize, self.outputsize,
      self.bias and '' or ' without bias')
end

function PartialLinear:clearState()
   self.network:clearState()
   nn.utils.clear(self, 'addBuffer', 'buffer')
   return parent.clearState(self)
end
