-- nn.SoftMax over all that belongs to one sample: planes and pixels together.
local reshaped = require 'cudnn.reshaped'

local SoftMax, parent = torch.class('cudnn.SoftMax', 'nn.SoftMax')

function SoftMax:__init(fast)
   parent.__init(self)
   self.algorithm = fast and 'CUDNN_SOFTMAX_FAST' or 'CUDNN_SOFTMAX_ACCURATE'
   self.mode = 'CUDNN_SOFTMAX_MODE_INSTANCE'
   self.iSize = torch.LongStorage(4):fill(0)
end

reshaped(SoftMax, parent, function(input)
   local batch = input:dim() % 2 == 0 and input:size(1) or 1
   return {batch, input:nElement() / batch}
end)
