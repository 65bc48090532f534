-- image.toDisplayTensor: many pictures as one, side by side.
local xlua = require 'xlua'

-- One tensor of all pictures; a copy.
local function pack(input)
   if torch.isTensor(input) then
      return torch.Tensor(input:size()):copy(input)
   elseif type(input) ~= 'table' or not torch.isTensor(input[1]) then
      error('Unknown or incompatbile type of input: ' .. torch.type(input), 3)
   end
   local dims = input[1]:dim()
   local channels = dims == 2 and 1 or input[1]:size(1)
   local packed = torch.Tensor(#input, channels, input[1]:size(dims - 1), input[1]:size(dims))
   for i, picture in ipairs(input) do
      packed[i]:copy(picture)
   end
   return packed
end

local function coloured(count)
   return count == 1 or count == 3
end

-- `maps` is count x channels x height x width.
local function lay(maps, padding, perrow)
   local count = maps:size(1)
   local across = math.min(perrow, count)
   local down = math.ceil(count / across)
   local height, width = maps:size(3) + padding, maps:size(4) + padding
   local grid = torch.Tensor(maps:size(2), height * down, width * across):fill(maps:max())
   for k = 0, count - 1 do
      local y, x = math.floor(k / across) * height, k % across * width
      grid:narrow(2, math.floor(y + 1 + padding / 2), height - padding):narrow(3, math.floor(x + 1 + padding / 2),
         width - padding):copy(maps[k + 1])
   end
   return grid
end

return function(image)
   function image.toDisplayTensor(...)
      local o = xlua.unpack({...}, 'image.toDisplayTensor',
         'given a pack of tensors, returns a single tensor that contains a grid of all in the pack',
         {arg = 'input', type = 'torch.Tensor | table', help = 'input (HxW or KxHxW or Kx3xHxW or list)', req = true},
         {arg = 'padding', type = 'number', help = 'number of padding pixels between images', default = 0},
         {arg = 'nrow', type = 'number', help = 'number of images per row', default = 6},
         {arg = 'scaleeach', type = 'boolean', help = 'individual scaling for list of images', default = false},
         {arg = 'min', type = 'number', help = 'lower-bound for range'},
         {arg = 'max', type = 'number', help = 'upper-bound for range'},
         {arg = 'symmetric', type = 'boolean', help = 'use a symmetric dynamic range', default = false},
         {arg = 'saturate', type = 'boolean', help = 'cut what is outside min and max', default = true})
      if not (o.nrow >= 1 and o.padding >= 0) then
         xlua.error(string.format('nrow has to be 1 or more and padding 0 or more, got %s and %s', o.nrow, o.padding),
            'image.toDisplayTensor')
      end
      local packed = pack(o.input)
      local dims = packed:dim()
      local function rescale(tensor)
         return image.minmax{tensor = tensor, inplace = true, min = o.min, max = o.max, symm = o.symmetric,
            saturate = o.saturate}
      end
      local colours = dims == 4 and coloured(packed:size(2))
      local alone = dims == 2 or dims == 3 and coloured(packed:size(1))
      if alone then
         return rescale(packed)
      elseif not colours and dims ~= 3 then
         xlua.error('packed must be a HxW or KxHxW or Kx3xHxW tensor, or a list of tensors', 'image.toDisplayTensor')
      end
      if o.scaleeach then
         for i = 1, packed:size(1) do
            rescale(packed[i])
         end
      end
      local grid
      if colours then
         grid = lay(packed, o.padding, o.nrow)
      else
         grid = lay(packed:view(packed:size(1), 1, packed:size(2), packed:size(3)), o.padding, o.nrow)[1]
      end
      return o.scaleeach and grid or rescale(grid)
   end
end
