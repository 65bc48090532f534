-- Softmax over the planes, for each place of a volume.
local reshaped = require 'cudnn.reshaped'

local VolumetricSoftMax, parent = torch.class('cudnn.VolumetricSoftMax', 'cudnn.SpatialSoftMax')

reshaped(VolumetricSoftMax, parent, function(input)
   local dimensions = input:dim()
   if dimensions ~= 4 and dimensions ~= 5 then
      error(string.format('cudnn.VolumetricSoftMax: 4D or 5D tensor expected, got %dD', dimensions), 0)
   end
   local batch, planes = dimensions == 5 and input:size(1) or 1, input:size(dimensions - 3)
   return {batch, planes, input:size(dimensions - 2) * input:size(dimensions - 1), input:size(dimensions)}
end)
