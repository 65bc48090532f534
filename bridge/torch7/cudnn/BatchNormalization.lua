-- nn.BatchNormalization, for which a batch of one has statistics of its own.
local BatchNormalization, parent = torch.class('cudnn.BatchNormalization', 'nn.BatchNormalization')

BatchNormalization.__version = 2
BatchNormalization.leastBatch = 1
BatchNormalization.mode = 'CUDNN_BATCHNORM_PER_ACTIVATION'

function BatchNormalization:__init(nFeature, eps, momentum, affine)
   parent.__init(self, nFeature, eps, momentum, affine)
   self.iSize = torch.LongStorage(2):fill(0)
end
