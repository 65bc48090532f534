-- A module whose outputs, and the gradients that come back to it, are zeros where the input is padding: a recurrent
-- module starts anew behind it.
local mask = require 'rnn.mask'

local MaskZero, parent = torch.class('nn.MaskZero', 'nn.Decorator')

function MaskZero:__init(module, nInputDim, silent)
   parent.__init(self, module)
   if type(nInputDim) ~= 'number' then
      error('nn.MaskZero: expected the number of dimensions of an input, got ' .. torch.type(nInputDim))
   end
   if torch.isTypeOf(module, 'nn.AbstractRecurrent') and not silent then
      print('Warning : you are most likely using MaskZero the wrong way: use AbstractRecurrent:maskZero(), which wraps '
         .. 'the recurrentModule inside instead of the recurrent module itself.')
   end
   self.module = module
   self.nInputDim = nInputDim
end

function MaskZero:updateOutput(input)
   self.zeroMask, self.batchMask = mask.rows(self, input, self.nInputDim)
   self.output = mask.apply(self.output, self.modules[1]:updateOutput(input), self.zeroMask, self.batchMask)
   return self.output
end

local function masked(self, gradOutput)
   self.gradOutput = mask.apply(self.gradOutput, gradOutput, self.zeroMask, self.batchMask)
   return self.gradOutput
end

function MaskZero:updateGradInput(input, gradOutput)
   self.gradInput = self.modules[1]:updateGradInput(input, masked(self, gradOutput))
   return self.gradInput
end

function MaskZero:accGradParameters(input, gradOutput, scale)
   self.modules[1]:accGradParameters(input, masked(self, gradOutput), scale)
end

function MaskZero:accUpdateGradParameters(input, gradOutput, lr)
   self.modules[1]:accUpdateGradParameters(input, masked(self, gradOutput), lr)
end

function MaskZero:type(typename, tensorCache)
   self.gradOutput = nil
   local zero = self.zeroMask -- stays bytes
   self.zeroMask = nil
   local result = parent.type(self, typename, tensorCache)
   self.zeroMask = zero
   return result
end

function MaskZero:clearState()
   self.gradOutput, self.zeroMask = nil, nil
   return parent.clearState(self)
end
