-- BatchNormalization of the planes of volumes.
local VolumetricBatchNormalization = torch.class('nn.VolumetricBatchNormalization', 'nn.BatchNormalization')

VolumetricBatchNormalization.__version = 2
VolumetricBatchNormalization.nDim = 5
