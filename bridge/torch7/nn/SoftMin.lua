-- exp(-x) / sum(exp(-x)) over the classes.
local SoftMin, parent = torch.class('nn.SoftMin', 'nn.Module')
local softmax = require('nn.shared.kernel').softmax
local forward, backward = softmax('_softmax')

function SoftMin:updateOutput(input)
   self.mininput = self.mininput or input.new()
   self.mininput:resizeAs(input):mul(input, -1)
   return forward(self, self.mininput)
end

function SoftMin:updateGradInput(input, gradOutput)
   return backward(self, input, gradOutput):mul(-1)
end

function SoftMin:clearState()
   if self.mininput then
      self.mininput:set()
   end
   return parent.clearState(self)
end
