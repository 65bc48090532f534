-- Whole planes of images set to 0 with probability p during training; evaluation scales by what stays.
local dropout = require 'nn.shared.planedropout'

local SpatialDropout, parent = torch.class('nn.SpatialDropout', 'nn.Module')

dropout(SpatialDropout, parent, 3, '4D (nbatch, nfeat, h, w) or 3D (nfeat, h, w)')
