-- SpatialFractionalMaxPooling with a third axis, T, which is the last one of a tensor.
local fractional = require 'nn.shared.fractional'

local VolumetricFractionalMaxPooling, parent = torch.class('nn.VolumetricFractionalMaxPooling', 'nn.Module')

fractional(VolumetricFractionalMaxPooling, parent, 'HWT', 'TWH', {T = 'time', W = 'width', H = 'height'})
