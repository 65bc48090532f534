-- The cudnn package: its layers are nn's, which compute on torch's kernels. Files with these classes load, and
-- `cudnn.convert` turns networks into nn's and back, on machines without a GPU too.
local asked = package.loaded.cutorch ~= nil
require 'cutorch'
require 'nn'

-- Programs try cudnn to see whether there is a GPU, and take a `cutorch` that they did not ask for as a yes.
if not asked and cutorch.getDeviceCount() == 0 then
   _G.cutorch, package.loaded.cutorch = nil, nil
end

cudnn = cudnn or {}
package.loaded.cudnn = cudnn

-- What programs set and look at; torch's kernels choose their algorithms themselves.
cudnn.benchmark = false
cudnn.fastest = false
cudnn.verbose = false
cudnn.useFindEx = false
cudnn.initialWorkspaceBytes = 1024
cudnn.reservedGPUBytes = 1024 * 1024
cudnn.maxWorkspaceGPUMemPercent = 95
cudnn.version = 5110
cudnn.typemap = {
   ['torch.CudaHalfTensor'] = 'CUDNN_DATA_HALF',
   ['torch.CudaTensor'] = 'CUDNN_DATA_FLOAT',
   ['torch.CudaDoubleTensor'] = 'CUDNN_DATA_DOUBLE',
}

local classes = {
   -- children behind their parents
   'SpatialConvolution', 'SpatialDilatedConvolution', 'SpatialFullConvolution',
   'VolumetricConvolution', 'VolumetricDilatedConvolution', 'VolumetricFullConvolution', 'TemporalConvolution',
   'SpatialMaxPooling', 'SpatialAveragePooling', 'VolumetricMaxPooling', 'VolumetricAveragePooling',
   'ReLU', 'ClippedReLU', 'Tanh', 'Sigmoid',
   'SpatialSoftMax', 'SpatialLogSoftMax', 'VolumetricSoftMax', 'VolumetricLogSoftMax', 'SoftMax', 'LogSoftMax',
   'SpatialCrossMapLRN', 'BatchNormalization', 'SpatialBatchNormalization', 'VolumetricBatchNormalization',
   'SpatialCrossEntropyCriterion', 'VolumetricCrossEntropyCriterion',
   'RNN', 'RNNReLU', 'RNNTanh', 'LSTM', 'BLSTM', 'GRU', 'BGRU',
}

for _, name in ipairs(classes) do
   require('cudnn.' .. name)
end

cudnn.convert = require 'cudnn.convert'

-- What type of numbers a kernel computes in for a type of tensors.
function cudnn.configmap(typename)
   return cudnn.typemap[typename]
end

function cudnn.configureMath()
end

-- There is no cache of algorithms to forget.
cudnn.find = {reset = function() end}

function cudnn.reset()
   if cutorch.getDeviceCount() > 0 then
      cutorch.synchronize()
   end
   collectgarbage()
end

return cudnn
