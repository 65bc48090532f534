-- exp(x) / sum(exp(x)) over the classes.
local kernel = require 'nn.shared.kernel'

local SoftMax = torch.class('nn.SoftMax', 'nn.Module')

SoftMax.updateOutput, SoftMax.updateGradInput = kernel.softmax('_softmax')
