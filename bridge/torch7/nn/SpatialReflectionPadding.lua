-- Images with a border that mirrors them.
local padding = require 'nn.spatialpadding'

local SpatialReflectionPadding, parent = torch.class('nn.SpatialReflectionPadding', 'nn.Module')

padding(SpatialReflectionPadding, parent, 'reflection_pad2d', {'pad_l', 'pad_r', 'pad_t', 'pad_b'},
   {'l', 'r', 't', 'b'})
