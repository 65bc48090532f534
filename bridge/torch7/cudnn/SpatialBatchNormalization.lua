-- nn.SpatialBatchNormalization, for which a batch of one has statistics of its own.
local SpatialBatchNormalization, parent = torch.class('cudnn.SpatialBatchNormalization', 'nn.SpatialBatchNormalization')

SpatialBatchNormalization.__version = 2
SpatialBatchNormalization.leastBatch = 1
SpatialBatchNormalization.mode = 'CUDNN_BATCHNORM_SPATIAL'

function SpatialBatchNormalization:__init(nFeature, eps, momentum, affine)
   parent.__init(self, nFeature, eps, momentum, affine)
   self.iSize = torch.LongStorage(4):fill(0)
end
