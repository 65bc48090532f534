-- max(0, x)
local ReLU, Threshold = torch.class('nn.ReLU', 'nn.Threshold')

function ReLU:__init(p)
   Threshold.__init(self, 0, 0, p)
end
