-- image.warp, which takes pixels from where a field points to, and image.affinetransform.
local plane = require 'image.plane'
local sampling = require 'image.sampling'
local calls = require 'image.calls'
local float = plane.float

local modes = {simple = sampling.nearest, bilinear = sampling.bilinear, bicubic = sampling.bicubic,
   lanczos = sampling.lanczos}
local PADDED = 'pad_value can only be specified if clamp_mode = "pad"'

-- The map of a field of 2 x height x width (rows first), relative to each pixel's own place or not.
local function follow(source, field, relative, clamp, nearest)
   local height, width = field:size(2), field:size(3)
   local map = sampling.map(height, width)
   local held = field:double():contiguous()
   local flow, pixels = held:data(), height * width
   local bottom, right = source.height - 1, source.width - 1
   for y = 0, height - 1 do
      for x = 0, width - 1 do
         local i = y * width + x
         local row = float(relative and y + flow[i] or flow[i])
         local column = float(relative and x + flow[pixels + i] or flow[pixels + i])
         local outside = not (row >= 0 and row <= bottom and column >= 0 and column <= right)
         -- Also what is no number is kept inside.
         row, column = row > 0 and math.min(row, bottom) or 0, column > 0 and math.min(column, right) or 0
         if nearest then
            row, column = math.floor(row + 0.5), math.floor(column + 0.5)
         end
         map.columns[i] = column
         map.rows[i] = outside and not clamp and -1 or row
      end
   end
   map.field = held -- which `flow` reads
   return map
end

-- The settings after (source, what) of both functions: mode, clamp mode, pad value.
local function settings(name, mode, clamp, pad)
   if not modes[mode] then
      calls.fail('Incorrect arguments (mode is not lanczos | bicubic | bilinear | simple)!', name)
   elseif clamp ~= 'clamp' and clamp ~= 'pad' then
      calls.fail('Incorrect arguments (clamp_mode is not clamp | pad)!', name)
   elseif type(pad) ~= 'number' then
      calls.fail('pad_value has to be a number, got ' .. type(pad), name)
   end
end

local function usage(name, what, second, third)
   local more = {{type = 'string', help = 'mode: lanczos | bicubic | bilinear | simple', default = 'bilinear'}, third,
      {type = 'string', help = 'clamp mode: samples off the input image (clamp | pad)', default = 'clamp'},
      {type = 'number', help = 'pad value, when the clamp mode is pad', default = 0}}
   calls.usage(name, what, {{calls.input, second, unpack(more)},
      {calls.destination, calls.input, second, unpack(more)}})
end

-- Is there a destination before the source? `second` tells what comes after the source.
local function shift(count, third)
   return count >= 3 and type(third) ~= 'string'
end

return function(image)
   -- warp([dst], src, field, [mode], [offset], [clamp], [pad]).
   function image.warp(...)
      local given, count = {...}, select('#', ...)
      local first = shift(count, given[3]) and 2 or 1
      if count < 2 or count > 5 + first then
         usage('warp', 'warp an image, according to a flow field',
            {type = 'torch.Tensor', help = '(y,x) flow field (2xHxW)', req = true},
            {type = 'string', help = 'offset mode (add (x,y) to flow field)', default = true})
      end
      local destination = first == 2 and given[1] or nil
      local source, field = calls.tensor(given[first], 'warp'), calls.tensor(given[first + 1], 'warp')
      local mode, offset, clamp, pad = given[first + 2] or 'bilinear', given[first + 3], given[first + 4] or 'clamp', 0
      if count >= first + 5 then
         assert(clamp == 'pad', PADDED)
         pad = given[first + 5]
      end
      settings('warp', mode, clamp, pad)
      if field:dim() ~= 3 or field:size(1) ~= 2 then
         calls.fail('the flow field has to be of size 2xHxW', 'warp')
      end
      local from = plane.of(source, 'warp')
      local relative = count < first + 3 or offset and true or false
      local map = follow(from, field, relative, clamp == 'clamp', mode == 'simple')
      local made = modes[mode](from, map, pad)
      destination = destination or source.new()
      destination:resize(from.channels, map.height, map.width)
      plane.store(destination, made)
      return source:dim() == 2 and destination[1] or destination
   end

   -- affinetransform([dst], src, matrix, [mode], [translation], [clamp], [pad]): the matrix is 2x2, (y, x), around the
   -- middle.
   function image.affinetransform(...)
      local given, count = {...}, select('#', ...)
      local first = shift(count, given[3]) and 2 or 1
      if count < 2 or count > 5 + first then
         usage('affinetransform', 'apply an affine transformation to an image',
            {type = 'torch.Tensor', help = 'affine transformation matrix (2x2)', req = true},
            {type = 'torch.Tensor', help = 'translation (y,x)', default = '{0, 0}'})
      end
      local destination = first == 2 and given[1] or nil
      local source, matrix = calls.tensor(given[first], 'affinetransform'), given[first + 1]
      local mode, translation, clamp = given[first + 2] or 'bilinear', given[first + 3] or {0, 0},
         given[first + 4] or 'clamp'
      local pad = 0
      if count >= first + 5 then
         assert(clamp == 'pad', PADDED)
         pad = given[first + 5]
      end
      settings('affinetransform', mode, clamp, pad)
      matrix = torch.isTensor(matrix) and matrix:double() or torch.DoubleTensor(matrix)
      translation = torch.isTensor(translation) and translation:double() or torch.DoubleTensor(translation)
      if matrix:dim() ~= 2 or matrix:size(1) ~= 2 or matrix:size(2) ~= 2 or translation:nElement() ~= 2 then
         calls.fail('the matrix has to be of size 2x2 and the translation of size 2', 'affinetransform')
      end
      local from = plane.of(source, 'affinetransform')
      local height, width = from.height, from.width
      local y = torch.range(0, height - 1):double():add(-(height - 1) / 2):view(height, 1):expand(height, width)
      local x = torch.range(0, width - 1):double():add(-(width - 1) / 2):view(1, width):expand(height, width)
      local field = torch.DoubleTensor(2, height, width)
      for i = 1, 2 do
         field[i]:zero():add(matrix[i][1], y):add(matrix[i][2], x):add(-1, i == 1 and y or x):add(translation[i])
      end
      local map = follow(from, field, true, clamp == 'clamp', mode == 'simple')
      destination = destination or source.new()
      destination:resizeAs(source)
      return plane.store(destination, modes[mode](from, map, pad))
   end
end
