-- Zeros as large as the output of a step, in self.zeroTensor.
return function(self, input)
   if input:dim() == 2 then
      self.zeroTensor:resize(input:size(1), self.outputSize)
   else
      self.zeroTensor:resize(self.outputSize)
   end
   return self.zeroTensor:zero()
end
