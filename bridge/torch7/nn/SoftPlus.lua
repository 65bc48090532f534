-- log(1 + exp(beta x)) / beta; x itself where beta x passes a threshold.
local aten = require 'torch.aten'
local bend = require 'nn.shared.bend'

local exp, log1p, sigmoid = aten.op('exp.out', 'TT'), aten.op('log1p.out', 'TT'), aten.op('sigmoid.out', 'TT')

local SoftPlus, parent = torch.class('nn.SoftPlus', 'nn.Module')

function SoftPlus:__init(beta)
   parent.__init(self)
   self.beta = beta or 1
   self.threshold = 20
end

-- beta x, in the result's memory where that is another tensor.
local function scaled(self, result, input)
   result:resizeAs(input)
   return self.beta == 1 and input or result:mul(input, self.beta)
end

function SoftPlus:updateOutput(input)
   local output = self.output
   exp(scaled(self, output, input), output)
   log1p(output, output)
   return bend.softplus(output, input, output, self.beta, self.threshold)
end

-- The slope is sigmoid(beta x), and 1 where the output times beta passes the threshold.
function SoftPlus:updateGradInput(input, gradOutput)
   local gradInput = self.gradInput
   sigmoid(scaled(self, gradInput, input), gradInput)
   return bend.softplusback(gradInput, gradInput, gradOutput, 1 - math.exp(-self.threshold))
end
