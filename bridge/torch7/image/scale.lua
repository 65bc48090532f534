-- image.scale: first along the rows, then along the columns.
--
-- Bilinear: enlarging interpolates with the corners on the corners, shrinking takes the mean of the area that a pixel
-- covers. Bicubic interpolates with the corners on the corners; simple takes the pixel to the left and above.
local object = require 'torch.object'
local plane = require 'image.plane'
local calls = require 'image.calls'
local float = plane.float

-- Resample one line of `from` pixels, `step` apart, into `to` pixels.
local function linear(source, at, step, from, target, there, stride, to)
   if to > from then
      local scale = float((from - 1) / (to - 1))
      for i = 0, to - 2 do
         local place = float(i * scale)
         local left = math.floor(place)
         local right = math.min(left + 1, from - 1)
         local part = place - left
         target[there + i * stride] = (1 - part) * source[at + left * step] + part * source[at + right * step]
      end
      target[there + (to - 1) * stride] = source[at + (from - 1) * step]
   elseif to < from then
      local scale = float(from / to)
      local first, begun = 0, 0
      for i = 0, to - 1 do
         local place = float((i + 1) * scale)
         local last = math.floor(place)
         local rest = place - last
         local sum, weight = (1 - begun) * source[at + first * step], 1 - begun
         for j = first + 1, math.min(last, from) - 1 do
            sum = sum + source[at + j * step]
            weight = weight + 1
         end
         if last < from then
            sum = sum + rest * source[at + last * step]
            weight = weight + rest
         end
         target[there + i * stride] = sum / weight
         first, begun = math.min(last, from - 1), rest
      end
   else
      for i = 0, to - 1 do
         target[there + i * stride] = source[at + i * step]
      end
   end
end

local function cubic(source, at, step, from, target, there, stride, to)
   if to == from or from == 1 then
      for i = 0, to - 1 do
         target[there + i * stride] = source[at + math.min(i, from - 1) * step]
      end
      return
   end
   local scale = to == 1 and from - 1 or float((from - 1) / (to - 1))
   for i = 0, to - 2 do
      local place = float(i * scale)
      local left = math.min(math.floor(place), from - 2)
      local part = place - left
      local p1, p2 = source[at + left * step], source[at + (left + 1) * step]
      local p0 = left > 0 and source[at + (left - 1) * step] or 2 * p1 - p2
      local p3 = left + 2 < from and source[at + (left + 2) * step] or 2 * p2 - p1
      local a1 = (p2 - p0) / 2
      local a2 = p0 - 2.5 * p1 + 2 * p2 - p3 / 2
      local a3 = (p3 - p0) / 2 + 1.5 * (p1 - p2)
      target[there + i * stride] = p1 + part * (a1 + part * (a2 + part * a3))
   end
   target[there + (to - 1) * stride] = source[at + (from - 1) * step]
end

local function separable(line)
   return function(source, height, width, kind)
      local rows = plane.like(source, source.height, width)
      for row = 0, source.channels * source.height - 1 do
         line(source.data, row * source.width, 1, source.width, rows.data, row * width, 1, width)
      end
      plane.settle(rows, kind)
      local made = plane.like(source, height, width)
      for channel = 0, source.channels - 1 do
         for column = 0, width - 1 do
            line(rows.data, channel * source.height * width + column, width, source.height,
               made.data, channel * height * width + column, width, height)
         end
      end
      object.keep(source, rows)
      return made
   end
end

local function simple(source, height, width)
   local made = plane.like(source, height, width)
   local from, to = source.data, made.data
   local across, down = float(source.width / width), float(source.height / height)
   for channel = 0, source.channels - 1 do
      for y = 0, height - 1 do
         local row = math.min(math.floor(float(y * down)), source.height - 1)
         local at, there = (channel * source.height + row) * source.width, (channel * height + y) * width
         for x = 0, width - 1 do
            to[there + x] = from[at + math.min(math.floor(float(x * across)), source.width - 1)]
         end
      end
   end
   object.keep(source)
   return made
end

local modes = {bilinear = separable(linear), bicubic = separable(cubic), simple = simple}

-- Width and height that a size means: a number (the longer side), 'WxH', 'MAX', '^MIN', '*N/M' or '*N'.
local function measure(size, width, height)
   local longest = tonumber(size)
   if longest then
      local most = math.max(width, height)
      return width * longest / most, height * longest / most
   end
   local w, h = size:match('(%d+)x(%d+)')
   if w then
      return tonumber(w), tonumber(h)
   end
   local shortest = tonumber(size:match('%^(%d+)'))
   if shortest then
      local least = math.min(width, height)
      return width * shortest / least, height * shortest / least
   end
   local over, under = size:match('%*(%d+)%/(%d+)')
   if over then
      return width * over / under, height * over / under
   end
   local factor = tonumber(size:match('%*(.+)'))
   if factor then
      return width * factor, height * factor
   end
end

local function usage()
   local mode = {type = 'string', help = 'mode: bilinear | bicubic | simple', default = 'bilinear'}
   calls.usage('scale', 'rescale an image (geometry)', {
      {calls.input, {type = 'number', help = 'destination width', req = true},
         {type = 'number', help = 'destination height', req = true}, mode},
      {calls.input, {type = 'string | number', req = true,
         help = 'destination size: "WxH" or "MAX" or "^MIN" or "*SC" or "*SCn/SCd" or MAX'}, mode},
      {{type = 'torch.Tensor', help = 'destination image', req = true}, calls.input, mode}})
end

local function issize(value)
   return type(value) == 'string' or type(value) == 'number'
end

return function(image)
   -- scale(src, width, height, [mode]), scale(src, size, [mode]) or scale(dst, src, [mode]).
   function image.scale(...)
      local count = select('#', ...)
      local a, b, c, d = ...
      local destination, source, width, height, size, mode
      if count == 4 then
         source, width, height, mode = a, b, c, d
      elseif count == 3 and type(c) ~= 'string' then
         source, width, height = a, b, c
      elseif count == 3 or count == 2 then
         mode = c
         if issize(b) then
            source, size = a, b
         else
            destination, source = a, b
         end
      else
         usage()
      end
      local from = plane.of(source, 'scale')
      if size then
         width, height = measure(size, from.width, from.height)
      end
      if not destination then
         if not (tonumber(width) and tonumber(height)) then
            calls.fail('could not find valid dest size', 'scale')
         end
         width, height = calls.integer(width, 'scale', 'width'), calls.integer(height, 'scale', 'height')
         if width < 1 or height < 1 then
            calls.fail(string.format('could not find valid dest size: %.0fx%.0f has no pixels', width, height), 'scale')
         end
         destination = source:dim() == 3 and source.new(source:size(1), height, width) or source.new(height, width)
      end
      local to = plane.of(destination, 'scale', 2)
      plane.match(source, destination, 'scale')
      local resample = modes[mode or 'bilinear']
      if not resample then
         calls.fail('mode must be one of: simple | bicubic | bilinear', 'scale')
      end
      return plane.store(destination, resample(from, to.height, to.width, source:type()))
   end
end
