-- image.polar and image.logpolar: rows are angles, columns distances from the middle (or their logarithms).
local plane = require 'image.plane'
local sampling = require 'image.sampling'
local calls = require 'image.calls'
local float = plane.float

-- Where the pixels come from. `full`: out to the corners, where 0 stands for what is outside.
local function unrolled(source, height, width, full, nearest, logarithmic)
   local w, h = source.width, source.height
   local map = sampling.map(height, width)
   local reach = full and float(math.sqrt(w * w + h * h) / 2) or float((w < h and w or h) / 2)
   local growth = float(math.log(reach) / width)
   for j = 0, height - 1 do
      local angle = float(2 * math.pi * j / height)
      local cos, sin = math.cos(angle), math.sin(angle)
      for i = 0, width - 1 do
         local distance = float(logarithmic and math.exp(float(i * growth)) or float(reach * i) / width)
         local y, x = distance * cos + h / 2, -distance * sin + w / 2
         local top, left = math.floor(y), math.floor(x)
         -- Beside the border there is nothing to interpolate with.
         if nearest or top + 1 > h - 1 or left + 1 > w - 1 then
            y, x = top, left
         end
         local inside = top >= 0 and left >= 0 and top < h and left < w
         map.columns[j * width + i] = x
         map.rows[j * width + i] = inside and y or -1
      end
   end
   return map
end

local function transform(name, what, logarithmic)
   return function(...)
      local count = select('#', ...)
      local a, b, c, d = ...
      local destination, source, interpolation, mode
      if count == 4 then
         destination, source, interpolation, mode = a, b, c, d
      elseif count == 1 or (count == 2 or count == 3) and type(b) == 'string' then
         source, interpolation, mode = a, b, c
      elseif count == 2 or count == 3 then
         destination, source, interpolation = a, b, c
      else
         local how = {{type = 'string', help = 'interpolation: simple | bilinear', default = 'simple'},
            {type = 'string', help = 'mode: valid | full', default = 'valid'}}
         calls.usage(name, what, {{calls.input, unpack(how)}, {calls.destination, calls.input, unpack(how)}})
      end
      interpolation, mode = interpolation or 'simple', mode or 'valid'
      if interpolation ~= 'simple' and interpolation ~= 'bilinear' then
         calls.fail('interpolation must be one of: simple | bilinear', name)
      elseif mode ~= 'valid' and mode ~= 'full' then
         calls.fail('mode must be one of: valid | full', name)
      end
      local from = plane.of(source, name)
      if not destination then
         local side = math.max(from.height, from.width)
         destination = source:dim() == 3 and source.new(from.channels, side, side) or source.new(side, side)
      end
      local to = plane.of(destination, name, 2)
      plane.match(source, destination, name)
      local nearest = interpolation == 'simple'
      local map = unrolled(from, to.height, to.width, mode == 'full', nearest, logarithmic)
      return plane.store(destination, (nearest and sampling.nearest or sampling.bilinear)(from, map, 0))
   end
end

return function(image)
   image.polar = transform('polar', 'convert an image to polar coordinates', false)
   image.logpolar = transform('logpolar', 'convert an image to log-polar coordinates', true)
end
