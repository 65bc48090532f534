-- nn.LogSoftMax over all that belongs to one sample: planes and pixels together.
local reshaped = require 'cudnn.reshaped'

local LogSoftMax, parent = torch.class('cudnn.LogSoftMax', 'nn.LogSoftMax')

function LogSoftMax:__init()
   parent.__init(self)
   self.algorithm = 'CUDNN_SOFTMAX_LOG'
   self.mode = 'CUDNN_SOFTMAX_MODE_INSTANCE'
   self.iSize = torch.LongStorage(4):fill(0)
end

reshaped(LogSoftMax, parent, function(input)
   local batch = input:dim() % 2 == 0 and input:size(1) or 1
   return {batch, input:nElement() / batch}
end)
