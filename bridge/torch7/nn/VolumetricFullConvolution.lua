-- SpatialFullConvolution with a third axis, T.
local full = require 'nn.shared.fullconvolution'

local VolumetricFullConvolution, parent = torch.class('nn.VolumetricFullConvolution', 'nn.Module')
local init = full(VolumetricFullConvolution, parent, 'THW', 'TWH')

function VolumetricFullConvolution:__init(nInputPlane, nOutputPlane, kT, kW, kH, dT, dW, dH, padT, padW, padH,
      adjT, adjW, adjH)
   init(self, nInputPlane, nOutputPlane,
      {k = {kT, kW, kH}, d = {dT, dW, dH}, pad = {padT, padW, padH}, adj = {adjT, adjW, adjH}})
end
