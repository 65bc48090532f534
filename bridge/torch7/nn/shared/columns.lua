-- What nn.Euclidean and nn.WeightedEuclidean share: distances from the input, a vector or the rows of a matrix, to the
-- columns of self.weight.
local columns = {}

-- A small number that keeps gradients finite where a distance is 0.
columns.EPSILON = 1e-7

-- input - weight as batch x inputSize x outputSize.
function columns.differences(weight, input)
   if input:dim() ~= 1 and input:dim() ~= 2 then
      error('1D or 2D input expected', 3)
   end
   local samples = input:dim() == 1 and 1 or input:size(1)
   local size = torch.LongStorage{samples, weight:size(1), weight:size(2)}
   local differences = input:contiguous():view(samples, weight:size(1), 1):expand(size):clone()
   return differences:add(-1, columns.spread(weight, size))
end

-- A tensor of inputSize x outputSize for each of a batch.
function columns.spread(tensor, size)
   return tensor:view(1, size[2], size[3]):expand(size)
end

-- gradOutput / distance as large as `size`.
function columns.slopes(output, gradOutput, size)
   local slopes = torch.cdiv(gradOutput, torch.add(output, columns.EPSILON))
   return slopes:view(size[1], 1, size[3]):expand(size)
end

-- The distances: one row for each sample, or a vector.
function columns.lengths(output, differences, input)
   output:norm(differences, 2, 2)
   if input:dim() == 1 then
      return output:resize(output:size(3))
   end
   return output:resize(output:size(1), output:size(3))
end

return columns
