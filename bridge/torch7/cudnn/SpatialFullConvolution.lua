-- nn.SpatialFullConvolution, in `groups` (1).
local algorithms = require 'cudnn.algorithms'
local divide = require 'cudnn.groups'

local SpatialFullConvolution, parent = torch.class('cudnn.SpatialFullConvolution', 'nn.SpatialFullConvolution')

function SpatialFullConvolution:__init(nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH, adjW, adjH, groups)
   groups = divide(self, nInputPlane, nOutputPlane, groups)
   if groups == 1 then
      parent.__init(self, nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH, adjW, adjH)
   else -- weights for the planes of one group
      parent.__init(self, nInputPlane, nOutputPlane / groups, kW, kH, dW, dH, padW, padH, adjW, adjH)
      self.nOutputPlane = nOutputPlane
      self.bias:resize(nOutputPlane)
      self.gradBias:resize(nOutputPlane):zero()
      self:reset()
   end
   self.iSize = torch.LongStorage(4):fill(0)
end

algorithms(SpatialFullConvolution)
