-- Each pixel divided by the weighted deviation (from zero) of its neighbourhood in all planes, if that is above a
-- threshold.
local neighbourhood = require 'nn.shared.neighbourhood'

local SpatialDivisiveNormalization, parent = torch.class('nn.SpatialDivisiveNormalization', 'nn.Module')

function SpatialDivisiveNormalization:__init(nInputPlane, kernel, threshold, thresval)
   parent.__init(self)
   self.nInputPlane = nInputPlane or 1
   self.kernel = kernel or torch.Tensor(9, 9):fill(1)
   self.threshold = threshold or 1e-4
   self.thresval = thresval or threshold or 1e-4
   local padH, padW = neighbourhood.reach(self.kernel, 'SpatialDivisiveNormalization')
   neighbourhood.scale(self.kernel, self.nInputPlane)
   self.meanestimator = nn.Sequential()
   neighbourhood.mean(self.meanestimator, self.nInputPlane, self.kernel, padH, padW)
   self.stdestimator = nn.Sequential():add(nn.Square())
   neighbourhood.mean(self.stdestimator, self.nInputPlane, self.kernel, padH, padW)
   self.stdestimator:add(nn.Sqrt())
   self.normalizer = nn.CDivTable()
   self.divider = nn.CDivTable()
   self.thresholder = nn.Threshold(self.threshold, self.thresval)
   self.coef = torch.Tensor(1, 1, 1)
end

function SpatialDivisiveNormalization:updateOutput(input)
   self.localstds = self.stdestimator:updateOutput(input)
   neighbourhood.coefficients(self, input)
   self.adjustedstds = self.divider:updateOutput{self.localstds, self.coef}
   self.thresholdedstds = self.thresholder:updateOutput(self.adjustedstds)
   self.output = self.normalizer:updateOutput{input, self.thresholdedstds}
   return self.output
end

function SpatialDivisiveNormalization:updateGradInput(input, gradOutput)
   local gradnorm = self.normalizer:updateGradInput({input, self.thresholdedstds}, gradOutput)
   local gradadj = self.thresholder:updateGradInput(self.adjustedstds, gradnorm[2])
   local graddiv = self.divider:updateGradInput({self.localstds, self.coef}, gradadj)
   self.gradInput:resizeAs(input):copy(self.stdestimator:updateGradInput(input, graddiv[1]))
   return self.gradInput:add(gradnorm[1])
end

function SpatialDivisiveNormalization:clearState()
   nn.utils.clear(self, 'ones', '_coef')
   self.localstds, self.adjustedstds, self.thresholdedstds = nil, nil, nil
   self.coef = torch.Tensor(1, 1, 1):type(self:type())
   for _, name in ipairs{'meanestimator', 'stdestimator', 'divider', 'normalizer', 'thresholder'} do
      self[name]:clearState()
   end
   return parent.clearState(self)
end
