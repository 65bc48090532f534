-- The logistic function 1 / (1 + exp(-x)) of each element.
local kernel = require 'nn.shared.kernel'

local Sigmoid = torch.class('nn.Sigmoid', 'nn.Module')

function Sigmoid:updateOutput(input)
   return self.output:sigmoid(input)
end

Sigmoid.updateGradInput = kernel.fromoutput('sigmoid_backward')
