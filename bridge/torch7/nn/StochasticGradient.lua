-- Training by stochastic gradient descent, one example at a time: dataset[i] is {input, target}, dataset:size() counts.
local StochasticGradient = torch.class('nn.StochasticGradient')

function StochasticGradient:__init(module, criterion)
   self.learningRate = 0.01
   self.learningRateDecay = 0
   self.maxIteration = 25
   self.shuffleIndices = true
   self.module = module
   self.criterion = criterion
   self.verbose = true
end

-- One step; the loss before it.
local function step(self, example, learningRate)
   local input, target = example[1], example[2]
   local module, criterion = self.module, self.criterion
   local loss = criterion:forward(module:forward(input), target)
   module:updateGradInput(input, criterion:updateGradInput(module.output, target))
   module:accUpdateGradParameters(input, criterion.gradInput, learningRate)
   return loss
end

local function report(self, ...)
   if self.verbose then
      print(string.format(...))
   end
end

function StochasticGradient:train(dataset)
   local count = dataset:size()
   local order = self.shuffleIndices and torch.randperm(count) or torch.range(1, count)
   local learningRate = self.learningRate
   local iteration = 1
   print('# StochasticGradient: training')
   while true do
      local total = 0
      for t = 1, count do
         local example = dataset[order[t]]
         total = total + step(self, example, learningRate)
         if self.hookExample then
            self.hookExample(self, example)
         end
      end
      total = total / count
      if self.hookIteration then
         self.hookIteration(self, iteration, total)
      end
      report(self, '# current error = %s', total)
      iteration = iteration + 1
      learningRate = self.learningRate / (1 + iteration * self.learningRateDecay)
      if self.maxIteration > 0 and iteration > self.maxIteration then
         print('# StochasticGradient: you have reached the maximum number of iterations')
         print('# training error = ' .. total)
         return
      end
   end
end
