-- A lookup table whose index 0 is padding: a vector of zeros.
local LookupTableMaskZero, parent = torch.class('nn.LookupTableMaskZero', 'nn.LookupTable')

function LookupTableMaskZero:__init(nIndex, nOutput)
   parent.__init(self, nIndex + 1, nOutput)
end

function LookupTableMaskZero:updateOutput(input)
   self.weight[1]:zero()
   return parent.updateOutput(self, torch.add(input, 1))
end

function LookupTableMaskZero:accGradParameters(input, gradOutput, scale)
   parent.accGradParameters(self, torch.add(input, 1), gradOutput, scale)
   self.gradWeight[1]:zero()
end
