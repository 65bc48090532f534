-- nn.SpatialSoftMax. `fast` would be less accurate for numbers far apart; here both are accurate.
local SpatialSoftMax, parent = torch.class('cudnn.SpatialSoftMax', 'nn.SpatialSoftMax')

function SpatialSoftMax:__init(fast)
   parent.__init(self)
   self.algorithm = fast and 'CUDNN_SOFTMAX_FAST' or 'CUDNN_SOFTMAX_ACCURATE'
   self.mode = 'CUDNN_SOFTMAX_MODE_CHANNEL'
   self.iSize = torch.LongStorage(4):fill(0)
end
