-- The mean (or sum) of max(0, margin - target (x1 - x2)): a target of 1 wants x1 above x2, -1 below.
local MarginRankingCriterion, parent = torch.class('nn.MarginRankingCriterion', 'nn.Criterion')

function MarginRankingCriterion:__init(margin)
   parent.__init(self)
   self.margin = margin or 1
   self.gradInput = {torch.Tensor(1), torch.Tensor(1)}
   self.sizeAverage = true
end

-- margin - target (x1 - x2), and the target as a tensor.
local function distances(self, input, target)
   local first, second = input[1], input[2]
   if type(target) == 'number' then
      target = first.new():resizeAs(first):fill(target)
   end
   return torch.add(second, -1, first):cmul(target):add(self.margin), target
end

function MarginRankingCriterion:updateOutput(input, target)
   local distance = distances(self, input, target)
   self.output = distance:cmax(0):sum()
   if self.sizeAverage then
      self.output = self.output / distance:size(1)
   end
   return self.output
end

function MarginRankingCriterion:updateGradInput(input, target)
   local distance, wanted = distances(self, input, target)
   local first, second = self.gradInput[1]:resizeAs(input[1]), self.gradInput[2]:resizeAs(input[2])
   second:ge(distance, 0):cmul(wanted)
   if self.sizeAverage then
      second:div(distance:size(1))
   end
   first:mul(second, -1)
   return self.gradInput
end
