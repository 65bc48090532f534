-- Each element; those from -lambda to lambda become 0.
local HardShrink, parent = torch.class('nn.HardShrink', 'nn.Module')

local function stay()
end

require('nn.shrink')(HardShrink, parent, stay)
