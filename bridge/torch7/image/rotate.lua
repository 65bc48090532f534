-- image.rotate: around the middle, against the clock; corners that come from outside are 0.
local plane = require 'image.plane'
local sampling = require 'image.sampling'
local calls = require 'image.calls'
local float = plane.float

local function round(x)
   return x < 0 and math.ceil(x - 0.5) or math.floor(x + 0.5)
end

-- Where the pixels of the turned picture come from.
local function turned(source, theta, nearest)
   local width, height = source.width, source.height
   local map = sampling.map(height, width)
   local xc, yc = (width - 1) / 2, (height - 1) / 2
   theta = float(theta)
   local cos, sin = math.cos(theta), math.sin(theta)
   if nearest then
      cos, sin = float(cos), float(sin)
   end
   for j = 0, height - 1 do
      for i = 0, width - 1 do
         local x = cos * (i - xc) - sin * (j - yc) + xc
         local y = cos * (j - yc) + sin * (i - xc) + yc
         if nearest then
            x, y = round(float(x)), round(float(y))
         end
         -- Up to half a pixel outside the border's own pixel is the nearest one.
         local inside = x > -0.5 and y > -0.5 and x < width - 0.5 and y < height - 0.5
         map.columns[j * width + i] = math.max(math.min(x, width - 1), 0)
         map.rows[j * width + i] = inside and math.max(math.min(y, height - 1), 0) or -1
      end
   end
   return map
end

return function(image)
   -- rotate([dst], src, theta, ['simple'|'bilinear']), theta in radians.
   function image.rotate(...)
      local count = select('#', ...)
      local destination, source, theta, mode
      if count == 4 then
         destination, source, theta, mode = ...
      elseif count == 3 and type((select(2, ...))) == 'number' then
         source, theta, mode = ...
      elseif count == 3 then
         destination, source, theta = ...
      elseif count == 2 then
         source, theta = ...
      else
         local angle = {type = 'number', help = 'rotation angle (in radians)', req = true}
         local how = {type = 'string', help = 'mode: simple | bilinear', default = 'simple'}
         calls.usage('rotate', 'rotate an image by theta radians', {{calls.input, angle, how},
            {calls.destination, calls.input, angle, how}})
      end
      local from = plane.of(source, 'rotate')
      if type(theta) ~= 'number' then
         error(string.format("bad argument #3 to 'rotate' (number expected, got %s)", type(theta)), 2)
      end
      mode = mode or 'simple'
      if mode ~= 'simple' and mode ~= 'bilinear' then
         calls.fail('mode must be one of: simple | bilinear', 'rotate')
      end
      destination = destination or source.new()
      destination:resizeAs(source)
      if torch.data(destination) == torch.data(source) then
         error('image.rotate: in-place rotate not supported', 2)
      end
      local map = turned(from, theta, mode == 'simple')
      local sample = mode == 'simple' and sampling.nearest or sampling.bilinear
      return plane.store(destination, sample(from, map, 0))
   end
end
