-- Each pixel less the weighted mean of its neighbourhood in all planes.
local neighbourhood = require 'nn.shared.neighbourhood'

local SpatialSubtractiveNormalization, parent = torch.class('nn.SpatialSubtractiveNormalization', 'nn.Module')

function SpatialSubtractiveNormalization:__init(nInputPlane, kernel)
   parent.__init(self)
   self.nInputPlane = nInputPlane or 1
   self.kernel = kernel or torch.Tensor(9, 9):fill(1)
   local padH, padW = neighbourhood.reach(self.kernel, 'SpatialSubtractiveNormalization')
   neighbourhood.scale(self.kernel, self.nInputPlane)
   self.meanestimator = nn.Sequential()
   neighbourhood.mean(self.meanestimator, self.nInputPlane, self.kernel, padH, padW)
   self.subtractor = nn.CSubTable()
   self.divider = nn.CDivTable()
   self.coef = torch.Tensor(1, 1, 1)
end

function SpatialSubtractiveNormalization:updateOutput(input)
   neighbourhood.coefficients(self, input)
   self.localsums = self.meanestimator:updateOutput(input)
   self.adjustedsums = self.divider:updateOutput{self.localsums, self.coef}
   self.output = self.subtractor:updateOutput{input, self.adjustedsums}
   return self.output
end

function SpatialSubtractiveNormalization:updateGradInput(input, gradOutput)
   local gradsub = self.subtractor:updateGradInput({input, self.adjustedsums}, gradOutput)
   local graddiv = self.divider:updateGradInput({self.localsums, self.coef}, gradsub[2])
   self.gradInput:resizeAs(input):copy(self.meanestimator:updateGradInput(input, graddiv[1]))
   return self.gradInput:add(gradsub[1])
end

function SpatialSubtractiveNormalization:clearState()
   nn.utils.clear(self, 'ones', '_coef')
   self.localsums, self.adjustedsums = nil, nil
   self.coef = torch.Tensor(1, 1, 1):type(self:type())
   self.meanestimator:clearState()
   self.divider:clearState()
   self.subtractor:clearState()
   return parent.clearState(self)
end
