-- The inverse of a VolumetricMaxPooling.
local unpooling = require 'nn.unpooling'

local VolumetricMaxUnpooling, parent = torch.class('nn.VolumetricMaxUnpooling', 'nn.Module')

unpooling(VolumetricMaxUnpooling, parent, 'THW', 'nn.VolumetricMaxPooling', {'time', 'height', 'width'})
