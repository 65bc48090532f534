-- nn.Tanh, in place if asked for.
local inplace = require 'cudnn.inplace'

local Tanh, parent = torch.class('cudnn.Tanh', 'nn.Tanh')

inplace(Tanh, parent, 'tanh')
