-- The inverse of a SpatialMaxPooling.
local unpooling = require 'nn.unpooling'

local SpatialMaxUnpooling, parent = torch.class('nn.SpatialMaxUnpooling', 'nn.Module')

unpooling(SpatialMaxUnpooling, parent, 'HW', 'nn.SpatialMaxPooling', {'height', 'width'})
