-- Recurrent modules whose step takes {input, output(t - 1)} and makes output(t). Before the first step the output is
-- zeros, or what the program gave as userPrevOutput; then userGradPrevOutput is its gradient.
--
-- `zeros(self, input)` makes the zeros.
return function(class, zeros)
   local function before(self, step)
      return step == 1 and (self.userPrevOutput or self.zeroTensor) or self.outputs[step - 1]
   end

   function class:updateOutput(input)
      if self.step == 1 and not self.userPrevOutput then
         self.zeroTensor = zeros(self, input)
      end
      return self:advance(self:forwardModule():updateOutput{input, before(self, self.step)})
   end

   function class:_updateGradInput(input, gradOutput, step)
      gradOutput = self:collect(gradOutput, step)
      local gradInput, gradPrevOutput =
         unpack(self:getStepModule(step):updateGradInput({input, before(self, step)}, gradOutput))
      self.gradPrevOutput = gradPrevOutput
      if self.userPrevOutput then
         self.userGradPrevOutput = gradPrevOutput
      end
      return gradInput
   end

   function class:_accGradParameters(input, gradOutput, scale, step)
      self:getStepModule(step):accGradParameters({input, before(self, step)}, self:collected(gradOutput, step), scale)
   end
end
