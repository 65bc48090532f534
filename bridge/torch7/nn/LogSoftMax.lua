-- log(exp(x) / sum(exp(x))) over the classes.
local kernel = require 'nn.shared.kernel'

local LogSoftMax = torch.class('nn.LogSoftMax', 'nn.Module')

LogSoftMax.updateOutput, LogSoftMax.updateGradInput = kernel.softmax('_log_softmax')
