-- Handwritten digits: a network with one hidden layer, as a Torch7 model file of 2016 has it.
-- It knows nothing of parameter servers: train() leaves the gradient in gradParameters.

require 'torch'
require 'nn'

torch.setdefaulttensortype('torch.FloatTensor')

model = nn.Sequential()
model:add(nn.Linear(64, 64))
model:add(nn.Tanh())
model:add(nn.Linear(64, 10))
model:add(nn.LogSoftMax())

criterion = nn.ClassNLLCriterion()
parameters, gradParameters = model:getParameters()

-- batch.inputs: n x 64, batch.targets: n classes in 1..10; returns the mean loss
function train(batch)
   model:training()
   gradParameters:zero()
   local output = model:forward(batch.inputs)
   local loss = criterion:forward(output, batch.targets)
   model:backward(batch.inputs, criterion:backward(output, batch.targets))
   return loss
end

-- returns n x 10 log-probabilities
function predict(batch)
   model:evaluate()
   return model:forward(batch.inputs)
end
