-- Images with a border that repeats their edges.
local padding = require 'nn.shared.spatialpadding'

local SpatialReplicationPadding, parent = torch.class('nn.SpatialReplicationPadding', 'nn.Module')

padding(SpatialReplicationPadding, parent, 'replication_pad2d', {'pad_l', 'pad_r', 'pad_t', 'pad_b'},
   {'l', 'r', 't', 'b'})
