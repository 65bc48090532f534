-- nn.VolumetricBatchNormalization, for which a batch of one has statistics of its own.
local VolumetricBatchNormalization, parent = torch.class('cudnn.VolumetricBatchNormalization',
   'nn.VolumetricBatchNormalization')

VolumetricBatchNormalization.__version = 2
VolumetricBatchNormalization.leastBatch = 1
VolumetricBatchNormalization.mode = 'CUDNN_BATCHNORM_SPATIAL'

function VolumetricBatchNormalization:__init(nFeature, eps, momentum, affine)
   parent.__init(self, nFeature, eps, momentum, affine)
   self.iSize = torch.LongStorage(5):fill(0)
end
