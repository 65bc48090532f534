-- Gated recurrent units, both ways; see cudnn.RNN.
local BGRU, parent = torch.class('cudnn.BGRU', 'cudnn.RNN')

function BGRU:__init(inputSize, hiddenSize, numLayers, batchFirst, dropout, rememberStates)
   parent.__init(self, inputSize, hiddenSize, numLayers, batchFirst, dropout, rememberStates, 'CUDNN_GRU', 2)
end
