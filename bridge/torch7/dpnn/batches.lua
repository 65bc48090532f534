-- Samples as batches of one and back, for modules and criterions that compute on batches only.
for _, class in ipairs{nn.Module, nn.Criterion} do
   -- A tensor of `dimensions` gets one for the batch.
   function class:toBatch(tensor, dimensions, batchDim)
      self.dpnn_online = tensor:dim() == dimensions
      if self.dpnn_online then
         return nn.utils.addSingletonDimension(tensor, batchDim or 1)
      end
      return tensor
   end

   function class:fromBatch(tensor, batchDim)
      batchDim = batchDim or 1
      if self.dpnn_online then
         if tensor:size(batchDim) ~= 1 then
            error(string.format('dimension %d is no batch of one: it has %d elements', batchDim, tensor:size(batchDim)))
         end
         return tensor:select(batchDim, 1)
      end
      return tensor
   end

   -- The input, or a contiguous copy that the backward pass finds again.
   function class:contiguousInput(input, backward)
      if backward then
         return self.dpnn_cinput or input
      end
      if input:isContiguous() then
         self.dpnn_cinput = nil
         return input
      end
      self.dpnn_cinput = input.new():resizeAs(input):copy(input)
      return self.dpnn_cinput
   end
end
