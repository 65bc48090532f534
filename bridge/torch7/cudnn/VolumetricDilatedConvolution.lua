-- nn.VolumetricDilatedConvolution.
local algorithms = require 'cudnn.algorithms'

local VolumetricDilatedConvolution = torch.class('cudnn.VolumetricDilatedConvolution',
   'nn.VolumetricDilatedConvolution')

algorithms(VolumetricDilatedConvolution)
