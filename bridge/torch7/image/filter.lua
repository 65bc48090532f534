-- Convolution with a kernel, and what is made of it: local contrast normalisation and gaussian pyramids.
local calls = require 'image.calls'

local function usage()
   local more = {{type = 'torch.Tensor', help = 'kernel', req = true},
      {type = 'string', help = 'type: full | valid | same', default = 'valid'}}
   calls.usage('convolve', 'convolves an input image with a kernel, returns the result',
      {{calls.input, unpack(more)}, {calls.destination, calls.input, unpack(more)}})
end

return function(image)
   -- convolve([dst], src, kernel, ['valid'|'full'|'same']); a flat kernel goes over every channel.
   function image.convolve(...)
      local count = select('#', ...)
      local a, b, c, d = ...
      local destination, source, kernel, mode
      if count == 4 or count == 3 and type(c) ~= 'string' then
         destination, source, kernel, mode = a, b, c, d
      elseif count == 3 or count == 2 then
         source, kernel, mode = a, b, c
      else
         usage()
      end
      if mode and mode ~= 'valid' and mode ~= 'full' and mode ~= 'same' then
         calls.fail('mode has to be one of: full | valid | same', 'convolve')
      end
      calls.tensor(source, 'convolve')
      calls.tensor(kernel, 'convolve')
      if kernel:nDimension() == 2 and source:nDimension() == 3 then
         kernel = kernel:typeAs(source):view(1, kernel:size(1), kernel:size(2)):expand(source:size(1), kernel:size(1),
            kernel:size(2)):clone()
      end
      local border = (mode == 'full' or mode == 'same') and 'F' or 'V'
      if destination then
         torch.conv2(destination, source, kernel, border)
      else
         destination = torch.conv2(source, kernel, border)
      end
      if mode == 'same' then
         local x = destination:dim()
         local y = x - 1
         return destination:narrow(y, math.ceil(kernel:size(y) / 2), source:size(y)):narrow(x,
            math.ceil(kernel:size(x) / 2), source:size(x))
      end
      return destination
   end

   -- Local contrast normalisation of a grey image: less the local mean, by the local deviation where that exceeds 1.
   function image.lcn(picture, kernel)
      calls.tensor(picture, 'lcn')
      kernel = (kernel or image.gaussian{size = 9, sigma = 1.591 / 9, normalize = true}):double()
      if not (picture:dim() == 2 or picture:dim() == 3 and picture:size(1) == 1) then
         error('grayscale image expected', 2)
      end
      local grey = picture:clone():double()
      grey = grey:dim() == 3 and grey[1] or grey
      grey:add(-grey:mean()):div(grey:std())
      local mean = torch.conv2(grey, kernel)
      local variance = torch.conv2(torch.cmul(grey, grey), kernel):add(-1, torch.cmul(mean, mean))
      local deviation = variance:cmax(0):sqrt():cmax(1)
      local middle = grey:narrow(1, math.floor(kernel:size(1) / 2) + 1, deviation:size(1)):narrow(2,
         math.floor(kernel:size(2) / 2) + 1, deviation:size(2))
      return middle:clone():add(-1, mean):cdiv(deviation)
   end

   -- gaussianpyramid([dst], src, scales): each level is taken from the blurred level before it.
   function image.gaussianpyramid(...)
      local count = select('#', ...)
      local levels, source, scales
      if count == 3 then
         levels, source, scales = ...
      elseif count == 2 then
         source, scales = ...
         levels = {}
      else
         local list = {type = 'table', help = 'list of scales', req = true}
         calls.usage('gaussianpyramid', 'construct a Gaussian pyramid from an image', {{calls.input, list},
            {{type = 'table', help = 'destination (list of Tensors)', req = true}, calls.input, list}})
      end
      calls.tensor(source, 'gaussianpyramid')
      local dims = source:nDimension()
      if dims ~= 2 and dims ~= 3 then
         calls.fail('src image must be 2D or 3D', 'gaussianpyramid')
      end
      local kernel = image.gaussian{width = 3, normalize = true}:typeAs(source)
      local last = source
      for i, scale in ipairs(scales) do
         local height, width = source:size(dims - 1) * scale, source:size(dims) * scale
         levels[i] = levels[i] or source.new()
         if dims == 2 then
            levels[i]:resize(height, width)
         else
            levels[i]:resize(source:size(1), height, width)
         end
         if scale == 1 then
            levels[i]:copy(last)
         else
            image.scale(levels[i], last, 'simple')
         end
         last = image.convolve(levels[i], kernel, 'same')
      end
      return levels
   end
end
