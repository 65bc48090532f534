-- nn.ReLU.
local ReLU, parent = torch.class('cudnn.ReLU', 'nn.ReLU')

-- cuDNN's objects lack these fields.
ReLU.threshold = 0
ReLU.val = 0

function ReLU:__init(inplace)
   parent.__init(self, inplace)
   self.iSize = torch.LongStorage(4):fill(0)
end
