-- h(t) = tanh(W x(t) + R h(t - 1) + b); see cudnn.RNN.
local RNNTanh, parent = torch.class('cudnn.RNNTanh', 'cudnn.RNN')

function RNNTanh:__init(inputSize, hiddenSize, numLayers, batchFirst, dropout, rememberStates)
   parent.__init(self, inputSize, hiddenSize, numLayers, batchFirst, dropout, rememberStates, 'CUDNN_RNN_TANH', 1)
end
