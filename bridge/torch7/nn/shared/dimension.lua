-- The dimension that `self.dimension` means for `input`: a negative one counts from the last, and the dimensions of one
-- sample are moved by one when the input is a batch of samples of `nInputDims` dimensions.
return function(self, input)
   local dimension = self.dimension
   if dimension < 0 then
      return input:dim() + dimension + 1
   elseif self.nInputDims and input:dim() == self.nInputDims + 1 then
      return dimension + 1
   end
   return dimension
end
