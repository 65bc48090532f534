-- nn.SpatialLogSoftMax.
local SpatialLogSoftMax, parent = torch.class('cudnn.SpatialLogSoftMax', 'nn.SpatialLogSoftMax')

function SpatialLogSoftMax:__init()
   parent.__init(self)
   self.algorithm = 'CUDNN_SOFTMAX_LOG'
   self.mode = 'CUDNN_SOFTMAX_MODE_CHANNEL'
   self.iSize = torch.LongStorage(4):fill(0)
end
