-- Numbers drawn around the input with standard deviation `stdev`: a number, a tensor, or with {means, stdevs} as input
-- also learned.
local ReinforceNormal, parent = torch.class('nn.ReinforceNormal', 'nn.Reinforce')

function ReinforceNormal:__init(stdev, stochastic)
   parent.__init(self, stochastic)
   self.stdev = stdev
   if not stdev then
      self.gradInput = {torch.Tensor(), torch.Tensor()}
   end
end

-- The means, and the deviations as a tensor like them.
local function moments(self, input)
   local mean, stdev = input, self.stdev
   if torch.type(input) == 'table' then
      mean, stdev = unpack(input)
   end
   if type(stdev) == 'number' then
      return mean, mean.new():resizeAs(mean):fill(stdev)
   elseif not torch.isTensor(stdev) then
      error('nn.ReinforceNormal: stdev must be a number or a tensor, or come with the input; got '
         .. torch.type(stdev), 3)
   elseif stdev:dim() + 1 == mean:dim() then
      stdev = nn.utils.addSingletonDimension(stdev, 1)
   end
   return mean, stdev:expandAs(mean)
end

function ReinforceNormal:updateOutput(input)
   local mean, stdev = moments(self, input)
   self.output:resizeAs(mean)
   if self:draws() then
      self.output:normal():cmul(stdev):add(mean)
   else
      self.output:copy(mean)
   end
   return self.output
end

-- -reward (x - u) / s^2, and for learned deviations -reward ((x - u)^2 - s^2) / s^3.
function ReinforceNormal:updateGradInput(input)
   local mean, stdev = moments(self, input)
   local learned = torch.type(input) == 'table'
   local gradMean = learned and self.gradInput[1] or self.gradInput
   local reward = self:rewardAs(mean)
   gradMean:resizeAs(mean):copy(self.output):add(-1, mean)
   if learned then
      local gradStdev = self.gradInput[2]
      gradStdev:resizeAs(mean):copy(gradMean):cmul(gradMean)
      gradStdev:add(-1, torch.cmul(stdev, stdev)):cdiv(torch.pow(stdev, 3)):cmul(reward):mul(-1)
   end
   gradMean:cdiv(stdev):cdiv(stdev):cmul(reward):mul(-1)
   return self.gradInput
end
