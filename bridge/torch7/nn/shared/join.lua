-- Put tensors one after the other, along a dimension, into `output`; the size that it gets.
return function(output, tensors, dimension)
   if #tensors == 0 then
      error('nothing to join: at least one tensor expected', 3)
   end
   local size = tensors[1]:size()
   for i = 2, #tensors do
      size[dimension] = size[dimension] + tensors[i]:size(dimension)
   end
   output:resize(size)
   local offset = 1
   for _, tensor in ipairs(tensors) do
      local length = tensor:size(dimension)
      output:narrow(dimension, offset, length):copy(tensor)
      offset = offset + length
   end
   return size
end
