-- A softmax over other dimensions than nn's: `shape(input)` are the sizes under which nn's sees the input.
return function(class, parent, shape)
   function class:updateOutput(input)
      local size = input:size()
      parent.updateOutput(self, input:contiguous():view(unpack(shape(input))))
      self.output:resize(size)
      return self.output
   end

   function class:updateGradInput(input, gradOutput)
      local size, sizes = input:size(), shape(input)
      self.output:resize(unpack(sizes))
      parent.updateGradInput(self, input:contiguous():view(unpack(sizes)), gradOutput:contiguous():view(unpack(sizes)))
      self.output:resize(size)
      self.gradInput:resize(size)
      return self.gradInput
   end
end
