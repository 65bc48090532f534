-- The transpose of SpatialConvolution: its output is as large as what would give the input. adjW, adjH choose among the
-- sizes that would.
local full = require 'nn.shared.fullconvolution'

local SpatialFullConvolution, parent = torch.class('nn.SpatialFullConvolution', 'nn.Module')
local init = full(SpatialFullConvolution, parent, 'HW', 'WH')

function SpatialFullConvolution:__init(nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH, adjW, adjH)
   init(self, nInputPlane, nOutputPlane, {k = {kW, kH}, d = {dW, dH}, pad = {padW, padH}, adj = {adjW, adjH}})
end
