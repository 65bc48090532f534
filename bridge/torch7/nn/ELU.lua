-- x where it is positive, alpha * (exp(x) - 1) elsewhere: Clevert, Unterthiner & Hochreiter (2015).
local aten = require 'torch.aten'
local bend = require 'nn.shared.bend'

local expm1 = aten.op('expm1.out', 'TT')

local ELU, parent = torch.class('nn.ELU', 'nn.Module')

function ELU:__init(alpha, inplace)
   parent.__init(self)
   self.alpha = alpha or 1
   self.inplace = inplace or false
   assert(type(self.alpha) == 'number')
   assert(type(self.inplace) == 'boolean')
end

function ELU:updateOutput(input)
   local exponentials = self.inplace and input.new() or self.output
   expm1(input, exponentials:resizeAs(input))
   return bend.elu(bend.output(self, input), input, exponentials, self.alpha)
end

-- From the output alone, which is where in-place use has left it.
function ELU:updateGradInput(input, gradOutput)
   return bend.eluback(bend.gradInput(self, input, gradOutput), self.output, gradOutput, self.alpha)
end

function ELU:__tostring__()
   return string.format('%s (alpha:%f)', torch.type(self), self.alpha)
end
