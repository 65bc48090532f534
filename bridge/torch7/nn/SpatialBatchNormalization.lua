-- BatchNormalization of the planes of images.
local SpatialBatchNormalization = torch.class('nn.SpatialBatchNormalization', 'nn.BatchNormalization')

SpatialBatchNormalization.__version = 2
SpatialBatchNormalization.nDim = 4
