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

-- A function of one pixel's three numbers, for every pixel. It computes in the picture's own type, as C does: `round`
-- makes a number one of that type. Bytes are parts of 255.
local function pixelwise(name, what, convert)
   return function(...)
      local output, input = operands(name, what, ...)
      local from = plane.of(input, name)
      local made = plane.like(from, from.height, from.width)
      if from.channels > 3 then
         made.tensor:copy(from.tensor)
      end
      local source, target, area, round = from.data, made.data, from.height * from.width, from.round
      local full = input:type() == 'torch.ByteTensor' and 255 or 1
      for i = 0, area - 1 do
         local a, b, c = convert(round(source[i] / full), round(source[area + i] / full),
            round(source[2 * area + i] / full), round)
         target[i], target[area + i], target[2 * area + i] = round(a) * full, round(b) * full, round(c) * full
      end
      object.keep(from)
      return plane.store(output:resizeAs(input), made)
   end
end

-- The hue (0 to 1) of a colour whose largest part is `most` and which spans `range`.
local function hue(r, g, b, most, range, round)
   local turn
   if most == r then
      turn = round(round((g - b) / range) + (g < b and 6 or 0))
   elseif most == g then
      turn = round(round((b - r) / range) + 2)
   else
      turn = round(round((r - g) / range) + 4)
   end
   return turn / 6
end

local function rgb2hsl(r, g, b, round)
   local most, least = math.max(r, g, b), math.min(r, g, b)
   if most == least then
      return 0, 0, most
   end
   local range, sum = round(most - least), round(most + least)
   local light = round(sum / 2)
   return hue(r, g, b, most, range, round), range / (light > 0.5 and round(round(2 - most) - least) or sum), light
end

local function rgb2hsv(r, g, b, round)
   local most, least = math.max(r, g, b), math.min(r, g, b)
   if most == least then
      return 0, 0, most
   end
   local range = round(most - least)
   return hue(r, g, b, most, range, round), range / most, most
end

-- How much of one colour there is at a hue.
local function part(p, q, t, round)
   t = t < 0 and round(t + 1) or t
   t = t > 1 and round(t - 1) or t
   if t < 1 / 6 then
      return p + round(q - p) * 6 * t
   elseif t < 1 / 2 then
      return q
   elseif t < 2 / 3 then
      return p + round(q - p) * (2 / 3 - t) * 6
   end
   return p
end

local function hsl2rgb(h, s, l, round)
   if s == 0 then
      return l, l, l
   end
   local q = l < 0.5 and round(l * round(1 + s)) or round(round(l + s) - round(l * s))
   local p = round(2 * l - q)
   return part(p, q, round(h + 1 / 3), round), part(p, q, h, round), part(p, q, round(h - 1 / 3), round)
end

local function hsv2rgb(h, s, v, round)
   local sector = math.floor(h * 6)
   local f = round(round(h * 6) - sector)
   local p = v * round(1 - s)
   local q = v * round(1 - round(f * s))
   local t = v * round(1 - round(round(1 - f) * s))
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

-- CIE L*a*b* goes beyond what a byte holds.
local function unbounded(name, what, convert)
   local whole = pixelwise(name, what, convert)
   return function(...)
      local input = select(select('#', ...), ...)
      if torch.type(input) == 'torch.ByteTensor' then
         error('image.' .. name .. ': not supported for torch.ByteTensor', 0)
      end
      return whole(...)
   end
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
   image.rgb2lab = unbounded('rgb2lab', 'transforms an image from sRGB to LAB', require('image.lab').fromrgb)
   image.lab2rgb = unbounded('lab2rgb', 'transforms an image from LAB to RGB', require('image.lab').torgb)
   image.rgb2yuv = mixture('rgb2yuv', 'transforms an image from RGB to YUV',
      {{0.299, 0.587, 0.114}, {-0.14713, -0.28886, 0.436}, {0.615, -0.51499, -0.10001}})
   image.yuv2rgb = mixture('yuv2rgb', 'transforms an image from YUV to RGB',
      {{1, 0, 1.13983}, {1, -0.39465, -0.58060}, {1, 2.03211, 0}})

   -- One channel; bytes are rounded.
   function image.rgb2y(...)
      local output, input = operands('rgb2y', 'transforms an image from RGB to Y', ...)
      local from = plane.of(input, 'rgb2y')
      local made = plane.like(from, from.height, from.width, 1)
      local source, target, area = from.data, made.data, from.height * from.width
      for i = 0, area - 1 do
         target[i] = 0.299 * source[i] + 0.587 * source[area + i] + 0.114 * source[2 * area + i]
      end
      object.keep(from)
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
