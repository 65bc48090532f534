-- Each element; those from -lambda to lambda become 0.
local bend = require 'nn.shared.bend'

local HardShrink, parent = torch.class('nn.HardShrink', 'nn.Module')

require('nn.shared.shrink')(HardShrink, parent, function(output, input, lambda)
   return bend.outside(output, input, input, lambda)
end)
