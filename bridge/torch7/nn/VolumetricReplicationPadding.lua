-- Volumes with a border that repeats their faces.
local padding = require 'nn.shared.spatialpadding'

local VolumetricReplicationPadding, parent = torch.class('nn.VolumetricReplicationPadding', 'nn.Module')

padding(VolumetricReplicationPadding, parent, 'replication_pad3d',
   {'pleft', 'pright', 'ptop', 'pbottom', 'pfront', 'pback'}, {'left', 'right', 'top', 'bottom', 'front', 'back'})
