-- Modules that draw their output, and learn from rewards (REINFORCE, Williams 1992): the gradient is minus the reward
-- times that of the logarithm of the probability of what was drawn. gradOutput is not looked at.
local Reinforce, parent = torch.class('nn.Reinforce', 'nn.Module')

function Reinforce:__init(stochastic)
   parent.__init(self)
   self.stochastic = stochastic -- draw in evaluation too
end

-- The reward of each sample of the batch.
function Reinforce:reinforce(reward)
   parent.reinforce(self, reward)
   self.reward = reward
end

-- Are outputs drawn now?
function Reinforce:draws()
   return self.stochastic or self.train ~= false
end

-- The rewards as a tensor like the input.
function Reinforce:rewardAs(input)
   local reward = self.reward
   if not reward or reward:dim() ~= 1 or reward:size(1) ~= input:size(1) then
      error(string.format('%s: reinforce has to be called with a vector of %d rewards first', torch.type(self),
         input:size(1)), 2)
   end
   local size = input:size():fill(1)
   size[1] = reward:size(1)
   return reward:view(size):expandAs(input)
end
