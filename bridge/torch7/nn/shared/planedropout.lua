-- What dropouts of whole planes share: one random number decides for all pixels of a plane.
local dropping = require 'nn.shared.dropping'

-- Give a class its methods; n: dimensions of a sample without a batch; `shapes`: what the input may be, in words.
return function(class, parent, n, shapes)
   function class:__init(p, stochasticInference)
      parent.__init(self)
      self.p = p or 0.5
      self.train = true
      self.stochastic_inference = stochasticInference or false
      self.noise = torch.Tensor()
   end

   function class:updateOutput(input)
      self.output:resizeAs(input):copy(input)
      if self.train or self.stochastic_inference then
         if input:dim() ~= n and input:dim() ~= n + 1 then
            error('Input must be ' .. shapes)
         end
         local size = input:size()
         for d = input:dim() - n + 2, input:dim() do
            size[d] = 1
         end
         self.noise:resize(size):bernoulli(1 - self.p)
         self.output:cmul(self.noise:expandAs(input))
      else
         self.output:mul(1 - self.p)
      end
      return self.output
   end

   function class:updateGradInput(input, gradOutput)
      if not self.train then
         error('backprop only defined while training')
      end
      self.gradInput:resizeAs(gradOutput):copy(gradOutput)
      return self.gradInput:cmul(self.noise:expandAs(input))
   end

   dropping(class, parent)
end
