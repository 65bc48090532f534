-- Whole planes of volumes set to 0 with probability p during training; evaluation scales by what stays.
local dropout = require 'nn.shared.planedropout'

local VolumetricDropout, parent = torch.class('nn.VolumetricDropout', 'nn.Module')

dropout(VolumetricDropout, parent, 4, '5D (nbatch, nfeat, t, h, w) or 4D (nfeat, t, h, w)')
