-- Functions of each element whose gradient follows from their output, which may be where the input was.
return function(class, parent, method)
   function class:__init(inplace)
      parent.__init(self)
      self.inplace = inplace or false
      self.iSize = torch.LongStorage(4):fill(0)
   end

   function class:updateOutput(input)
      if self.inplace then
         self.output:set(input)
         return self.output[method](self.output)
      end
      return parent.updateOutput(self, input)
   end

   function class:updateGradInput(input, gradOutput)
      if self.inplace then
         self.gradInput:set(gradOutput)
      end
      return parent.updateGradInput(self, input, gradOutput)
   end

   -- In place, output and gradInput are others' memory.
   function class:clearState()
      if self.inplace then
         self.output, self.gradInput = self.output.new(), self.gradInput.new()
      end
      return parent.clearState(self)
   end
end
