-- Morphological erosion and dilation of images of 0 and 1, with kernels of odd size.
local calls = require 'image.calls'

-- What the kernel counts at every pixel; outside the picture lies `pad`.
local function count(picture, kernel, pad)
   local high, wide = kernel:size(1) - 1, kernel:size(2) - 1
   local above, left = math.floor(high / 2), math.floor(wide / 2)
   local padded = picture.new(picture:size(1) + high, picture:size(2) + wide):fill(pad)
   padded:narrow(1, above + 1, picture:size(1)):narrow(2, left + 1, picture:size(2)):copy(picture)
   return torch.conv2(padded:double(), kernel:double())
end

local function operands(name, what, default, picture, kernel)
   if not picture then
      calls.usage(name, what, {{{type = 'torch.Tensor', help = 'binary image of 0 and 1', req = true},
         {type = 'torch.Tensor', help = 'morphological kernel of 0 and 1; default is 3x3'},
         {type = 'number', help = 'value to assume outside boundary; default is ' .. default}}}, 'missing image')
   end
   calls.tensor(picture, name)
   kernel = kernel and calls.tensor(kernel, name) or torch.ones(3, 3)
   if picture:dim() ~= 2 or kernel:dim() ~= 2 then
      calls.fail(string.format('image and kernel have two dimensions, got %d and %d', picture:dim(), kernel:dim()),
         name)
   end
   return kernel
end

return function(image)
   function image.erode(picture, kernel, pad)
      kernel = operands('erode', 'Morphological erosion for odd dimension kernels', 1, picture, kernel)
      return count(picture, kernel, pad or 1):eq(kernel:sum()):typeAs(picture)
   end

   function image.dilate(picture, kernel, pad)
      kernel = operands('dilate', 'Morphological dilation for odd dimension kernels', 0, picture, kernel)
      return count(picture, image.hflip(image.vflip(kernel:contiguous())), pad or 0):gt(0):typeAs(picture)
   end
end
