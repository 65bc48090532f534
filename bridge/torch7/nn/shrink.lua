-- What the shrinking functions have in common: everything from -lambda to lambda (and NaN) becomes 0, and has no
-- gradient. `move(output, lambda)` changes what the others become.
return function(class, parent, move)
   function class:__init(lam)
      parent.__init(self)
      self.lambda = lam or 0.5
   end

   local function near(self, input)
      return torch.abs(input):gt(self.lambda):eq(0)
   end

   function class:updateOutput(input)
      self.output:resizeAs(input):copy(input)
      move(self.output, self.lambda)
      self.output:maskedFill(near(self, input), 0)
      return self.output
   end

   function class:updateGradInput(input, gradOutput)
      self.gradInput:resizeAs(input):copy(gradOutput)
      self.gradInput:maskedFill(near(self, input), 0)
      return self.gradInput
   end
end
