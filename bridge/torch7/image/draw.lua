-- Text and rectangles on pictures of three channels. Colours are {red, green, blue}, 0 to 255, for every type.
local bit = require 'bit'
local calls = require 'image.calls'
local font = require 'image.font'
local plane = require 'image.plane'

local WIDE, HIGH = 6, 8 -- pixels from one character to the next

local function canvas(source, options, name)
   if not (torch.isTensor(source) and source:dim() == 3 and source:size(1) == 3) then
      error('image.' .. name .. ': input image has to be a 3D tensor of shape 3 x H x W', 3)
   end
   return options.inplace and source or source:clone()
end

-- Whole numbers; in other types than bytes parts of 255, divided as C's floats.
local function colour(value, tensor, name)
   if type(value) ~= 'table' or #value ~= 3 then
      error('image.' .. name .. ': a colour is {red, green, blue}, each from 0 to 255', 3)
   end
   local bytes = tensor:type() == 'torch.ByteTensor'
   local paint = {}
   for i = 1, 3 do
      local part = calls.integer(value[i], name, 'a colour')
      paint[i] = bytes and part or plane.float(part / 255)
   end
   return paint
end

-- Fill a rectangle whose corner is (x, y), counted from 0; what is outside is left out.
local function fill(output, x, y, width, height, paint)
   local left, top = math.max(x, 0), math.max(y, 0)
   local right, below = math.min(x + width, output:size(3)), math.min(y + height, output:size(2))
   if right > left and below > top then
      for channel = 1, 3 do
         local part = output[channel]:narrow(1, top + 1, below - top):narrow(2, left + 1, right - left)
         part:fill(paint[channel])
      end
   end
end

local function character(output, x, y, code, size, paint, ground)
   if x >= output:size(3) or y >= output:size(2) or x + WIDE * size <= 0 or y + HIGH * size <= 0 then
      return
   end
   if ground then
      fill(output, x, y, WIDE * size, HIGH * size, ground)
   end
   for i = 0, 4 do
      local column = font(code, i)
      for j = 0, 7 do
         if bit.band(bit.rshift(column, j), 1) == 1 then
            fill(output, x + i * size, y + j * size, size, size, paint)
         end
      end
   end
end

return function(image)
   -- Options: color, bg (background), size, wrap (true), inplace.
   function image.drawText(source, text, x, y, options)
      options = options or {}
      local output = canvas(source, options, 'drawText')
      text = text ~= nil and tostring(text) or ''
      local paint = colour(options.color or {255, 0, 0}, output, 'drawText')
      local bg = options.bg
      local ground = bg and bg[1] ~= -1 and bg[2] ~= -1 and bg[3] ~= -1 and colour(bg, output, 'drawText') or nil
      local size = calls.integer(options.size or 1, 'drawText', 'size')
      if size < 1 then
         error(string.format('image.drawText: size has to be 1 or more, got %.0f', size), 2)
      end
      x, y = calls.integer(x or 1, 'drawText', 'x'), calls.integer(y or 1, 'drawText', 'y')
      if text:gsub('%s*$', '') == '' then
         return output
      end
      local column, row = x, y
      for i = 1, #text do
         local code = text:byte(i)
         if code == 0 then
            break -- where a C string ends
         end
         if code == 10 then
            column, row = x, row + size * HIGH
         elseif code ~= 13 then
            if options.wrap ~= false and column + size * WIDE >= output:size(3) then
               column, row = 0, row + size * HIGH
            end
            if row >= output:size(2) then
               break -- nothing below can be seen
            end
            character(output, column, row, code, size, paint, ground)
            column = column + size * WIDE
         end
      end
      return output
   end

   -- Corners counted from 1. Options: color, lineWidth, inplace.
   function image.drawRect(source, x1, y1, x2, y2, options)
      options = options or {}
      local output = canvas(source, options, 'drawRect')
      if not (x1 and y1 and x2 and y2) then
         return output
      end
      local paint = colour(options.color or {255, 0, 0}, output, 'drawRect')
      local line = calls.integer(options.lineWidth or 1, 'drawRect', 'lineWidth')
      if line < 1 then
         error(string.format('image.drawRect: lineWidth has to be 1 or more, got %.0f', line), 2)
      end
      local shift = math.floor(line / 2) + 1
      local left, top = calls.integer(x1, 'drawRect', 'x1') - shift, calls.integer(y1, 'drawRect', 'y1') - shift
      local right, bottom = calls.integer(x2, 'drawRect', 'x2') - shift, calls.integer(y2, 'drawRect', 'y2') - shift
      for _, x in ipairs{left, right} do
         fill(output, x, top, line, bottom + line - top, paint)
      end
      for _, y in ipairs{top, bottom} do
         fill(output, left, y, right + line - left, line, paint)
      end
      return output
   end
end
