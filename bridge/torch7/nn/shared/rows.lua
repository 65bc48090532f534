-- A tensor as a matrix: a vector is one row.
return function(tensor)
   if tensor:dim() == 1 then
      return nn.utils.addSingletonDimension(tensor)
   elseif tensor:dim() == 2 then
      return tensor
   end
   error(string.format('input must be vector or matrix, got %d dimensions', tensor:dim()), 3)
end
