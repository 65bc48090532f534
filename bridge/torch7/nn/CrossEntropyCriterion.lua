-- LogSoftMax and ClassNLLCriterion in one.
local CrossEntropyCriterion, parent = torch.class('nn.CrossEntropyCriterion', 'nn.Criterion')

function CrossEntropyCriterion:__init(weights, sizeAverage)
   parent.__init(self)
   self.lsm = nn.LogSoftMax()
   self.nll = nn.ClassNLLCriterion(weights, sizeAverage)
   self.sizeAverage = self.nll.sizeAverage
   self.oldSizeAverage = self.sizeAverage
end

local function squeezed(input, target)
   return input:squeeze(), type(target) == 'number' and target or target:squeeze()
end

function CrossEntropyCriterion:updateOutput(input, target)
   input, target = squeezed(input, target)
   if self.sizeAverage ~= self.oldSizeAverage then -- it may be set after construction
      self.nll.sizeAverage = self.sizeAverage
      self.oldSizeAverage = self.sizeAverage
   end
   self.lsm:updateOutput(input)
   self.nll:updateOutput(self.lsm.output, target)
   self.output = self.nll.output
   return self.output
end

function CrossEntropyCriterion:updateGradInput(input, target)
   local size = input:size()
   input, target = squeezed(input, target)
   self.nll:updateGradInput(self.lsm.output, target)
   self.lsm:updateGradInput(input, self.nll.gradInput)
   self.gradInput:view(self.lsm.gradInput, size)
   return self.gradInput
end
