-- Each element; those from -lambda to lambda become 0.
local bend = require 'nn.bend'

local HardShrink, parent = torch.class('nn.HardShrink', 'nn.Module')

require('nn.shrink')(HardShrink, parent, function(output, input, lambda)
   return bend.outside(output, input, input, lambda)
end)
