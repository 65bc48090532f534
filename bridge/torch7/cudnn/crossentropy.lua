-- LogSoftMax and negative log likelihood at every place, for batches only.
return function(class, parent, dimensions, softmax, likelihood)
   function class:__init(weights)
      parent.__init(self)
      self.slsm = softmax()
      self.nll = likelihood(weights)
      self.sizeAverage = true
   end

   local function check(self, input, target)
      local fits = input:dim() == dimensions and target:dim() == dimensions - 1 and input:size(1) == target:size(1)
      for d = 3, fits and dimensions or 0 do
         fits = fits and input:size(d) == target:size(d - 1)
      end
      if not fits then
         error(string.format('%s: input must be batch x classes x places and target batch x places, got %s and %s',
            torch.type(self), table.concat(input:size():totable(), ' x '),
            table.concat(target:size():totable(), ' x ')), 0)
      end
      self.nll.sizeAverage = self.sizeAverage
   end

   function class:updateOutput(input, target)
      check(self, input, target)
      self.output = self.nll:updateOutput(self.slsm:updateOutput(input), target)
      return self.output
   end

   function class:updateGradInput(input, target)
      check(self, input, target)
      self.gradInput = self.slsm:updateGradInput(input, self.nll:updateGradInput(self.slsm.output, target))
      return self.gradInput
   end

   function class:type(typename, tensorCache)
      if typename then
         self.slsm:type(typename, tensorCache)
         self.nll:type(typename, tensorCache)
      end
      return parent.type(self, typename, tensorCache)
   end
end
