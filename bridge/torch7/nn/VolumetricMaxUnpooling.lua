-- The inverse of a VolumetricMaxPooling.
local unpooling = require 'nn.shared.unpooling'

local VolumetricMaxUnpooling, parent = torch.class('nn.VolumetricMaxUnpooling', 'nn.Module')

unpooling(VolumetricMaxUnpooling, parent, 'THW', 'nn.VolumetricMaxPooling', {'time', 'height', 'width'})
