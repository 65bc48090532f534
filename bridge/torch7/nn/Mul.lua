-- Everything times one learned number.
local Mul, parent = torch.class('nn.Mul', 'nn.Module')

function Mul:__init()
   parent.__init(self)
   self.weight = torch.Tensor(1)
   self.gradWeight = torch.Tensor(1):zero()
   self:reset()
end

function Mul:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.weight:size(1))
   self.weight:uniform(-stdv, stdv)
end

function Mul:updateOutput(input)
   self.output:resizeAs(input):copy(input)
   return self.output:mul(self.weight[1])
end

function Mul:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(input):zero()
   return self.gradInput:add(self.weight[1], gradOutput)
end

function Mul:accGradParameters(input, gradOutput, scale)
   self.gradWeight[1] = self.gradWeight[1] + (scale or 1) * input:dot(gradOutput)
end
