-- What the shrinking functions have in common: everything from -lambda to lambda (and NaN) becomes 0, and has no
-- gradient. `shrink(output, input, lambda)` computes the output.
local bend = require 'nn.shared.bend'

return function(class, parent, shrink)
   function class:__init(lam)
      parent.__init(self)
      self.lambda = lam or 0.5
   end

   function class:updateOutput(input)
      return shrink(self.output:resizeAs(input), input, self.lambda)
   end

   function class:updateGradInput(input, gradOutput)
      return bend.outside(self.gradInput:resizeAs(input), input, gradOutput, self.lambda)
   end
end
