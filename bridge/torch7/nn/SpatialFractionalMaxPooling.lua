-- Maxima of windows at random places, so many that the output is outW x outH, or ratioW, ratioH as large as the input.
local fractional = require 'nn.shared.fractional'

local SpatialFractionalMaxPooling, parent = torch.class('nn.SpatialFractionalMaxPooling', 'nn.Module')

fractional(SpatialFractionalMaxPooling, parent, 'HW', 'WH', {W = 'width', H = 'height'})
