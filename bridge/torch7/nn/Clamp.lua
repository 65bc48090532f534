-- Each element, cut off below min_value and above max_value.
local Clamp, parent = torch.class('nn.Clamp', 'nn.HardTanh')

function Clamp:__init(min_value, max_value)
   parent.__init(self, min_value, max_value)
end
