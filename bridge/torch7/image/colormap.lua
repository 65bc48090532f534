-- Tables of colours, one row of red, green and blue each, and grey pictures painted with one.
local calls = require 'image.calls'

local function fit(value)
   return math.max(math.min(value, 1), 0)
end

return function(image)
   -- Colours around the wheel of hues, 39 degrees apart, in turns of different saturation.
   function image.colormap(count)
      local map = torch.Tensor(count, 3)
      for i = 1, count do
         local hue = math.fmod((i - 1) * 39, 360) / 60
         local chroma = math.fmod((i - 1) / 9, 0.7) + 0.3
         local second = chroma * (1 - math.abs(math.fmod(hue, 2) - 1))
         local sector = math.floor(hue)
         local r = (sector == 0 or sector == 5) and chroma or (sector == 1 or sector == 4) and second or 0
         local g = (sector == 1 or sector == 2) and chroma or (sector == 0 or sector == 3) and second or 0
         local b = (sector == 3 or sector == 4) and chroma or (sector == 2 or sector == 5) and second or 0
         local floor = 0.5 - chroma / 2
         map[i][1], map[i][2], map[i][3] = r + floor, g + floor, b + floor
      end
      return map
   end

   -- From blue over green and yellow to red.
   function image.jetColormap(count)
      local map = torch.Tensor(count, 3)
      for i = 1, count do
         local four = 4 * i / count
         map[i][1] = fit(math.min(four - 1.5, 4.5 - four))
         map[i][2] = fit(math.min(four - 0.5, 3.5 - four))
         map[i][3] = fit(math.min(four + 0.5, 2.5 - four))
      end
      return map
   end

   -- y2jet([dst], src): levels 1 to n of a grey image in the colours of jetColormap(n).
   function image.y2jet(...)
      local count = select('#', ...)
      if count ~= 1 and count ~= 2 then
         error('Invalid input for image.y2jet()', 2)
      end
      local output, input = calls.converted('y2jet', 'paints a grey image', nil, ...)
      calls.tensor(input, 'y2jet')
      local grey = input:dim() == 3 and input:size(1) == 1 and input[1] or input
      grey = grey:dim() == 1 and grey:contiguous():view(1, grey:size(1)) or grey
      if grey:dim() ~= 2 then
         error('image.y2jet: a grey image expected, got ' .. table.concat(input:size():totable(), 'x'), 2)
      end
      local levels = math.floor(grey:max())
      local chosen = grey:long():contiguous():view(-1)
      if grey:min() < 1 or levels ~= levels then
         error(string.format('image.y2jet: levels are 1 and more, got %s', grey:min()), 2)
      end
      local map = image.jetColormap(levels)
      if torch.type(input) == 'torch.ByteTensor' then
         map:mul(255):round():clamp(0, 255)
      end
      local painted = map:index(1, chosen):t():contiguous():view(3, grey:size(1), grey:size(2))
      output = output or input.new()
      return output:resize(3, grey:size(1), grey:size(2)):copy(painted)
   end
end
