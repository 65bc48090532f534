-- Each element moved towards 0 by lambda, but not past it.
local bend = require 'nn.shared.bend'

local SoftShrink, parent = torch.class('nn.SoftShrink', 'nn.Module')

require('nn.shared.shrink')(SoftShrink, parent, bend.softshrink)
