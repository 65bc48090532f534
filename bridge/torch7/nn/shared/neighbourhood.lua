-- What local normalisations share: a network that gives, for each pixel, a weighted mean over its neighbourhood in all
-- planes, repeated for each plane; and how much of the kernel lies inside the image at each pixel.
local shape = require 'nn.shared.shape'

local neighbourhood = {}

-- Check the kernel; how far it reaches down and right.
function neighbourhood.reach(kernel, name)
   local n = kernel:dim()
   if n ~= 2 and n ~= 1 then
      error(string.format('<%s> averaging kernel must be 2D or 1D', name), 3)
   elseif kernel:size(1) % 2 == 0 or n == 2 and kernel:size(2) % 2 == 0 then
      error(string.format('<%s> averaging kernel must have ODD dimensions', name), 3)
   end
   return math.floor(kernel:size(1) / 2), math.floor(kernel:size(n) / 2)
end

-- Add to a Sequential what gives the mean over a kernel: a matrix, or a vector for both axes, scaled as below.
function neighbourhood.mean(network, planes, kernel, padH, padW)
   network:add(nn.SpatialZeroPadding(padW, padW, padH, padH))
   local first = #network.modules + 1
   if kernel:dim() == 2 then
      network:add(nn.SpatialConvolution(planes, 1, kernel:size(2), kernel:size(1)))
   else
      network:add(nn.SpatialConvolutionMap(nn.tables.oneToOne(planes), kernel:size(1), 1))
      network:add(nn.SpatialConvolution(planes, 1, 1, kernel:size(1)))
   end
   for layer = first, #network.modules do
      network.modules[layer].bias:zero()
      for plane = 1, planes do
         local weight = network.modules[layer].weight
         weight = torch.type(network.modules[layer]) == 'nn.SpatialConvolution' and weight[1] or weight
         weight[plane]:copy(kernel)
      end
   end
   network:add(nn.Replicate(planes, 1, 3))
end

-- Scale the kernel so that its weights, over all planes, sum up to one.
function neighbourhood.scale(kernel, planes)
   kernel:div(kernel:sum() * (kernel:dim() == 2 and planes or math.sqrt(planes)))
end

-- Let self.coef be what the mean makes of ones, less than one at the edges, for a batch or a single input. The mean has
-- one dimension more than its input.
function neighbourhood.coefficients(self, input)
   local n, coef = input:dim(), self.coef
   if coef:dim() == n + 1 and coef:nElement() == input:nElement() and coef:size(n + 1) == input:size(n)
         and coef:size(n) == input:size(n - 1) then
      return
   end
   self.ones = self.ones or input.new()
   self._coef = self._coef or input.new()
   self.ones:resizeAs(n == 4 and input[1] or input):fill(1)
   local one = self.meanestimator:updateOutput(self.ones)
   self._coef:resizeAs(one):copy(one)
   self.coef = self._coef
   if n == 4 then
      self.coef = shape.single(self._coef):expand(input:size(1), unpack(one:size():totable()))
   end
end

return neighbourhood
