-- Colour spaces that are mixtures of red, green and blue (YUV, Y, normalised RGB), and the hue's (HSL, HSV).
local object = require 'torch.object'
local plane = require 'image.plane'
local calls = require 'image.calls'

-- The destination, or a new tensor, as large as the source; the source has at least three channels.
local function operands(name, what, ...)
   local output, input = calls.converted(name, what, 'missing input', ...)
   calls.tensor(input, name)
   if input:dim() ~= 3 or input:size(1) < 3 then
      calls.fail('an image of size 3xHxW expected, got ' .. table.concat(input:size():totable(), 'x'), name)
   end
   return output or input.new(), input
end

-- A function of one pixel's three numbers, for every pixel.
local function pixelwise(name, what, convert)
   return function(...)
      local output, input = operands(name, what, ...)
      local from = plane.of(input, name)
      local made = plane.like(from, from.height, from.width)
      if from.channels > 3 then
         made.tensor:copy(from.tensor)
      end
      local source, target, area = from.data, made.data, from.height * from.width
      for i = 0, area - 1 do
         target[i], target[area + i], target[2 * area + i] = convert(source[i], source[area + i], source[2 * area + i])
      end
      object.keep(from)
      return plane.store(output:resizeAs(input), made)
   end
end

-- The hue (0 to 1) of a colour whose largest part is `most` and which spans `range`.
local function hue(r, g, b, most, range)
   if range == 0 then
      return 0
   elseif most == r then
      return ((g - b) / range + (g < b and 6 or 0)) / 6
   elseif most == g then
      return ((b - r) / range + 2) / 6
   end
   return ((r - g) / range + 4) / 6
end

local function rgb2hsl(r, g, b)
   local most, least = math.max(r, g, b), math.min(r, g, b)
   local range, light = most - least, (most + least) / 2
   if range == 0 then
      return 0, 0, light
   end
   return hue(r, g, b, most, range), range / (light > 0.5 and 2 - most - least or most + least), light
end

local function rgb2hsv(r, g, b)
   local most, least = math.max(r, g, b), math.min(r, g, b)
   return hue(r, g, b, most, most - least), most == 0 and 0 or (most - least) / most, most
end

-- How much of one colour there is at a hue.
local function part(p, q, t)
   t = t < 0 and t + 1 or t > 1 and t - 1 or t
   if t < 1 / 6 then
      return p + (q - p) * 6 * t
   elseif t < 1 / 2 then
      return q
   elseif t < 2 / 3 then
      return p + (q - p) * (2 / 3 - t) * 6
   end
   return p
end

local function hsl2rgb(h, s, l)
   if s == 0 then
      return l, l, l
   end
   local q = l < 0.5 and l * (1 + s) or l + s - l * s
   local p = 2 * l - q
   return part(p, q, h + 1 / 3), part(p, q, h), part(p, q, h - 1 / 3)
end

local function hsv2rgb(h, s, v)
   local sector = math.floor(h * 6)
   local f = h * 6 - sector
   local p, q, t = v * (1 - s), v * (1 - f * s), v * (1 - (1 - f) * s)
   sector = math.fmod(sector, 6)
   if sector == 0 then
      return v, t, p
   elseif sector == 1 then
      return q, v, p
   elseif sector == 2 then
      return p, v, t
   elseif sector == 3 then
      return p, q, v
   elseif sector == 4 then
      return t, p, v
   elseif sector == 5 then
      return v, p, q
   end
   return 0, 0, 0
end

-- Linear mixtures: each output channel is a row of three factors.
local function mixture(name, what, rows)
   return function(...)
      local output, input = operands(name, what, ...)
      local made = input.new():resizeAs(input):zero()
      for i, row in ipairs(rows) do
         for j, factor in ipairs(row) do
            if factor ~= 0 then
               made[i]:add(factor, input[j])
            end
         end
      end
      return output:resizeAs(input):copy(made)
   end
end

return function(image)
   image.rgb2hsl = pixelwise('rgb2hsl', 'transforms an image from RGB to HSL', rgb2hsl)
   image.hsl2rgb = pixelwise('hsl2rgb', 'transforms an image from HSL to RGB', hsl2rgb)
   image.rgb2hsv = pixelwise('rgb2hsv', 'transforms an image from RGB to HSV', rgb2hsv)
   image.hsv2rgb = pixelwise('hsv2rgb', 'transforms an image from HSV to RGB', hsv2rgb)
   image.rgb2lab = pixelwise('rgb2lab', 'transforms an image from sRGB to LAB', require('image.lab').fromrgb)
   image.lab2rgb = pixelwise('lab2rgb', 'transforms an image from LAB to RGB', require('image.lab').torgb)
   image.rgb2yuv = mixture('rgb2yuv', 'transforms an image from RGB to YUV',
      {{0.299, 0.587, 0.114}, {-0.14713, -0.28886, 0.436}, {0.615, -0.51499, -0.10001}})
   image.yuv2rgb = mixture('yuv2rgb', 'transforms an image from YUV to RGB',
      {{1, 0, 1.13983}, {1, -0.39465, -0.58060}, {1, 2.03211, 0}})

   -- One channel; bytes are rounded.
   function image.rgb2y(...)
      local output, input = operands('rgb2y', 'transforms an image from RGB to Y', ...)
      local from = plane.of(input, 'rgb2y')
      local made = plane.like(from, from.height, from.width, 1)
      made.tensor[1]:zero():add(0.299, from.tensor[1]):add(0.587, from.tensor[2]):add(0.114, from.tensor[3])
      return plane.store(output:resize(1, from.height, from.width), made)
   end

   -- Each colour's part of the sum of the three.
   function image.rgb2nrgb(...)
      local output, input = operands('rgb2nrgb', 'transforms an image from RGB to normalized RGB', ...)
      local sum = input[1]:clone():add(input[2]):add(input[3]):add(1e-6)
      local made = input:clone()
      for i = 1, 3 do
         made[i]:cdiv(sum)
      end
      return output:resizeAs(input):copy(made)
   end
end
