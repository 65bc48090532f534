-- SpatialFractionalMaxPooling with a third axis, T.
local fractional = require 'nn.fractional'

local VolumetricFractionalMaxPooling, parent = torch.class('nn.VolumetricFractionalMaxPooling', 'nn.Module')

fractional(VolumetricFractionalMaxPooling, parent, 'THW', 'TWH')
