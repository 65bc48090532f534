-- Kernels: gaussian, one-dimensional gaussian, laplacian.
local plane = require 'image.plane'
local xlua = require 'xlua'

local function square(x)
   return x * x
end

local common = {
   {arg = 'amplitude', type = 'number', help = 'amplitude of the kernel (max value)', default = 1},
   {arg = 'normalize', type = 'boolean', help = 'normalize kernel (exc Amplitude)', default = false},
   {arg = 'width', type = 'number', help = 'kernel width', defaulta = 'size'},
   {arg = 'height', type = 'number', help = 'kernel height', defaulta = 'size'},
   {arg = 'sigma_horz', type = 'number', help = 'horizontal sigma', defaulta = 'sigma'},
   {arg = 'sigma_vert', type = 'number', help = 'vertical sigma', defaulta = 'sigma'},
   {arg = 'mean_horz', type = 'number', help = 'horizontal mean', default = 0.5},
   {arg = 'mean_vert', type = 'number', help = 'vertical mean', default = 0.5},
   {arg = 'tensor', type = 'torch.Tensor', help = 'result tensor (height/width are ignored)'},
}

-- Functions may be called without any argument, too.
local function read(name, what, sigma, more, ...)
   local given = select('#', ...) == 0 and {{}} or {...}
   return (xlua.unpack(given, 'image.' .. name, what,
      {arg = 'size', type = 'number', help = 'kernel size (size x size)', default = 3},
      {arg = 'sigma', type = 'number', help = 'sigma (horizontal and vertical)', default = sigma}, unpack(more)))
end

local function result(tensor, dims, ...)
   if not tensor then
      return torch.Tensor(...)
   end
   assert(tensor:dim() == dims, 'expecting ' .. dims .. 'D tensor')
   assert(tensor:nElement() > 0, 'expecting non-empty tensor')
   return tensor
end

-- A gaussian of the kernel's size, computed in its type; bytes are rounded, and cut off when they are normalised.
local function fill(kernel, o)
   local height, width = kernel:size(1), kernel:size(2)
   local values = plane.like(plane.of(kernel, 'gaussian'), height, width, 1)
   local data, round = values.data, values.round
   local u, v = round(round(o.mean_horz) * width + 0.5), round(round(o.mean_vert) * height + 0.5)
   local overu = round(1 / round(round(o.sigma_horz) * width))
   local overv = round(1 / round(round(o.sigma_vert) * height))
   local amplitude = round(o.amplitude)
   for i = 1, height do
      local y = round(round(i - v) * overv)
      for j = 1, width do
         local x = round(round(j - u) * overu)
         data[(i - 1) * width + j - 1] = amplitude * math.exp(-0.5 * round(round(x * x) + round(y * y)))
      end
   end
   plane.store(kernel, values)
   if o.normalize then
      local sum = 0
      values.tensor:copy(kernel)
      for i = 0, height * width - 1 do
         sum = round(sum + data[i])
      end
      kernel:copy(values.tensor:mul(round(1 / sum)))
   end
   return kernel
end

return function(image)
   function image.gaussian(...)
      local o = read('gaussian', 'returns a 2D gaussian kernel', 0.25, common, ...)
      return fill(result(o.tensor, 2, o.height, o.width), o)
   end

   function image.gaussian1D(...)
      local o = read('gaussian1D', 'returns a 1D gaussian kernel', 0.25, {common[1], common[2],
         {arg = 'mean', type = 'number', help = 'Mean', default = 0.5},
         {arg = 'tensor', type = 'torch.Tensor', help = 'result tensor (size is ignored)'}}, ...)
      local kernel = result(o.tensor, 1, o.size)
      local length = kernel:size(1)
      local center = o.mean * length + 0.5
      for i = 1, length do
         kernel[i] = o.amplitude * math.exp(-square((i - center) / (o.sigma * length)) / 2)
      end
      return o.normalize and kernel:div(kernel:sum()) or kernel
   end

   function image.laplacian(...)
      local o = read('laplacian', 'returns a 2D Laplacian kernel', 0.1, {unpack(common, 1, 8)}, ...)
      local kernel = torch.Tensor(o.height, o.width)
      local x, y = o.mean_horz * o.width + 0.5, o.mean_vert * o.height + 0.5
      for i = 1, o.height do
         for j = 1, o.width do
            local sum = (square((i - x) / (o.sigma_horz * o.width)) + square((j - y) / (o.sigma_vert * o.height))) / 2
            kernel[i][j] = (1 - sum) * o.amplitude * math.exp(-sum)
         end
      end
      return o.normalize and kernel:div(kernel:sum()) or kernel
   end
end
