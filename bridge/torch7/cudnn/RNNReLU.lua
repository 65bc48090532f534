-- h(t) = max(0, W x(t) + R h(t - 1) + b); see cudnn.RNN.
local RNNReLU, parent = torch.class('cudnn.RNNReLU', 'cudnn.RNN')

function RNNReLU:__init(inputSize, hiddenSize, numLayers, batchFirst, dropout, rememberStates)
   parent.__init(self, inputSize, hiddenSize, numLayers, batchFirst, dropout, rememberStates, 'CUDNN_RNN_RELU', 1)
end
