-- nn.Sigmoid, in place if asked for.
local inplace = require 'cudnn.inplace'

local Sigmoid, parent = torch.class('cudnn.Sigmoid', 'nn.Sigmoid')

inplace(Sigmoid, parent, 'sigmoid')
