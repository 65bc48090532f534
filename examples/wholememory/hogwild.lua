-- One Lua worker of hogwild.py: its network's weights, and the images, are memory that all workers share.
require 'torch'
require 'nn'
local luaps = require 'luaps'

local weights, images, classes, seed, steps, rate = unpack(arg)
torch.setdefaulttensortype('torch.FloatTensor')
torch.manualSeed(tonumber(seed))

local inputs, targets = luaps.sharedtensor(images), luaps.sharedtensor(classes)
local net = nn.Sequential()
   :add(nn.Linear(64, 64)):add(nn.Tanh())
   :add(nn.Linear(64, 10)):add(nn.LogSoftMax())
local criterion = nn.ClassNLLCriterion()
luaps.share(net, weights)

local loss = 0
for _ = 1, tonumber(steps) do
   local batch = torch.LongTensor(32):random(inputs:size(1))
   local x, y = inputs:index(1, batch), targets:index(1, batch):add(1) -- classes count from 1 here
   net:zeroGradParameters()
   loss = criterion:forward(net:forward(x), y)
   net:backward(x, criterion:backward(net.output, y))
   net:updateParameters(tonumber(rate)) -- in place: everybody has it
end
print(string.format('Lua worker %s: last loss %.3f', seed, loss))
