-- The mean (or sum) of -log(exp(-Ds) / (exp(-Ds) + exp(-Dd))), Ds and Dd being distances of similar and of dissimilar
-- pairs: Hoffer & Ailon (2014).
local DistanceRatioCriterion, parent = torch.class('nn.DistanceRatioCriterion', 'nn.Criterion')

function DistanceRatioCriterion:__init(sizeAverage)
   parent.__init(self)
   self.sizeAverage = sizeAverage == nil or sizeAverage
   self.gradInput = {}
end

function DistanceRatioCriterion:updateOutput(input)
   if #input ~= 2 then
      error('Invalid number of inputs')
   end
   local x = torch.add(input[1], -1, input[2])
   self.output = torch.abs(x):mul(-1):exp():log1p():add(torch.cmax(x, 0)):sum() -- log(1 + exp(x)), never overflowing
   if self.sizeAverage then
      self.output = self.output / x:size(1)
   end
   return self.output
end

function DistanceRatioCriterion:updateGradInput(input)
   if #input ~= 2 then
      error('Invalid number of inputs')
   end
   local first = self.gradInput[1] or input[1].new()
   local second = self.gradInput[2] or input[1].new()
   first:resizeAs(input[1]):add(input[1], -1, input[2]):sigmoid()
   if self.sizeAverage then
      first:div(first:size(1))
   end
   second:resizeAs(input[2]):mul(first, -1)
   self.gradInput[1], self.gradInput[2] = first, second
   return self.gradInput
end

function DistanceRatioCriterion:type(typename, tensorCache)
   self.gradInput = {}
   return parent.type(self, typename, tensorCache)
end
