-- The inverse of a SpatialMaxPooling.
local unpooling = require 'nn.shared.unpooling'

local SpatialMaxUnpooling, parent = torch.class('nn.SpatialMaxUnpooling', 'nn.Module')

unpooling(SpatialMaxUnpooling, parent, 'HW', 'nn.SpatialMaxPooling', {'height', 'width'})
