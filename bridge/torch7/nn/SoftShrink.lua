-- Each element moved towards 0 by lambda, but not past it.
local SoftShrink, parent = torch.class('nn.SoftShrink', 'nn.Module')

local function towardszero(output, lambda)
   output:add(-1, torch.clamp(output, -lambda, lambda))
end

require('nn.shrink')(SoftShrink, parent, towardszero)
