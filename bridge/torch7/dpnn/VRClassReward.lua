-- Rewards a module for right classes: the loss is minus the sum of rewards, of which the expected reward is taken off
-- to lower their variance. The input is {classes' scores, baseline}, the baseline learned by a criterion; or the scores
-- alone, with a moving average of rewards as the baseline.
local VRClassReward, parent = torch.class('nn.VRClassReward', 'nn.Criterion')

function VRClassReward:__init(module, scale, criterion)
   parent.__init(self)
   self.module = module -- is told the rewards
   self.scale = scale or 1
   self.criterion = criterion or nn.MSECriterion()
   self.sizeAverage = true
   self.basecoeff = 0.9
   self.gradInput = {torch.Tensor()}
end

local function parts(input)
   if torch.type(input) == 'table' then
      return input[1], input[2]
   end
   return input, nil
end

function VRClassReward:updateOutput(input, target)
   local scores = parts(input)
   if scores:dim() ~= 2 then
      error(string.format('nn.VRClassReward: only works with batches (2D), got %dD', scores:dim()))
   end
   local _, found = scores:max(2)
   self.reward = found:view(-1):eq(target:long():view(-1)):type(scores:type()):mul(self.scale)
   self.output = -self.reward:sum()
   if self.sizeAverage then
      self.output = self.output / scores:size(1)
   end
   return self.output
end

function VRClassReward:updateGradInput(input)
   local scores, baseline = parts(input)
   self.vrReward = self.reward:clone()
   if baseline then
      self.vrReward:add(-1, baseline)
   else
      local mean = self.reward:mean()
      self.baseline = self.baseline and self.basecoeff * self.baseline + (1 - self.basecoeff) * mean or mean
      self.vrReward:add(-self.baseline)
   end
   if self.sizeAverage then
      self.vrReward:div(scores:size(1))
   end
   self.module:reinforce(self.vrReward)
   local gradScores = torch.type(self.gradInput) == 'table' and self.gradInput[1] or self.gradInput
   gradScores:resizeAs(scores):zero()
   if not baseline then
      self.gradInput = gradScores
      return self.gradInput
   end
   self.criterion:forward(baseline, self.reward)
   self.gradInput = {gradScores, self.criterion:backward(baseline, self.reward)}
   return self.gradInput
end

-- The module is another's: it keeps its type.
function VRClassReward:type(typename, tensorCache)
   local module = self.module
   self.module = nil
   local result = parent.type(self, typename, tensorCache)
   self.module = module
   return result
end
