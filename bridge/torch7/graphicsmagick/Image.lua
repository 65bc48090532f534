-- A picture: `pixels` is a ByteTensor of height x width x channels (grey, grey and alpha, RGB, RGBA).
local native = require 'bridge.native'
local channels = require 'graphicsmagick.channels'

local Image = {name = 'magick.Image'}
Image.__index = Image

local function python(name, ...)
   if not native.python then
      error(Image.name .. ": pictures are read by Python's Pillow, which this state has no way to", 3)
   end
   return native.python('graphicsmagick.' .. name, ...)
end

local function pixels(self, level)
   return self.pixels or error(Image.name .. ': nothing is loaded yet', (level or 2) + 1)
end

-- Nothing yet, a file (with a hint of its size), or a tensor (with its channels and the order of its dimensions).
function Image.new(source, ...)
   local self = setmetatable({path = '<>'}, Image)
   if type(source) == 'string' then
      self:load(source, ...)
   elseif torch.isTensor(source) then
      self:fromTensor(source, ...)
   end
   return self
end

function Image:clone()
   local copy = setmetatable({}, Image)
   for name, value in pairs(self) do
      copy[name] = value
   end
   return copy
end

local function read(self, what, where, width, height)
   local picture, kind = python('read', where, width, height)
   if not picture then
      error(string.format('%s: error loading image: %s: %s', Image.name, what, kind), 3)
   end
   self.pixels, self.kind = picture, kind
   return self
end

-- `width` and `height` say that no larger picture is needed, which makes loading faster; size() makes it exact.
function Image:load(path, width, height)
   if torch.isTensor(path) then
      return self:fromTensor(path, width, height)
   end
   read(self, path, path, width or 0, height or width or 0)
   self.path = path
   return self
end

function Image:fromString(text)
   if type(text) ~= 'string' then
      error(Image.name .. ': expected the content of a file as a string, got ' .. torch.type(text), 2)
   end
   self.path = '<blob>'
   return read(self, '<blob>', torch.ByteTensor(torch.ByteStorage():string(text)), 0, 0)
end

function Image:fromBlob(blob, size)
   return self:fromString(require('ffi').string(blob, size))
end

local function content(self, kind, quality)
   quality = quality or 85
   if type(quality) ~= 'number' or not (quality >= 0 and quality <= 100) then
      error(string.format('%s: expected a quality from 0 to 100, got %s', Image.name, tostring(quality)), 3)
   end
   local bytes, message = python('write', pixels(self, 3), kind, math.floor(quality))
   return bytes or error(string.format('%s: error saving image: %s', Image.name, message), 3)
end

function Image:toString(quality)
   return content(self, self.kind or 'PNG', quality):storage():string()
end

-- The content of a file, and its length.
function Image:toBlob(quality)
   local text = self:toString(quality)
   local blob = require('ffi').new('char[?]', #text)
   require('ffi').copy(blob, text, #text)
   return blob, #text
end

function Image:save(path, quality)
   local bytes = content(self, tostring(path):match('%.(%w+)$') or self.kind or 'PNG', quality)
   local file, message = io.open(path, 'wb')
   if not file then
      error(string.format('%s: error saving image: %s', Image.name, message), 2)
   end
   local ok, why = file:write(bytes:storage():string())
   file:close()
   return ok and self or error(string.format('%s: error saving image: %s', Image.name, why), 2)
end

-- Width and height; or give it those. The width alone: its longer side; the height alone: its shorter side.
function Image:size(width, height, kernel)
   local picture = pixels(self)
   local w, h = picture:size(2), picture:size(1)
   if not width and not height then
      return w, h
   end
   if not height then
      local scale = width / math.max(w, h)
      width, height = w * scale, h * scale
   elseif not width then
      local scale = height / math.min(w, h)
      width, height = w * scale, h * scale
   end
   width, height = math.floor(width), math.floor(height)
   if width < 1 or height < 1 then
      error(string.format('%s: error resizing image: %d x %d is too small', Image.name, width, height), 2)
   end
   self.pixels = python('resize', picture, width, height, kernel or 'Undefined')
      or error(string.format("%s: error resizing image: no filter '%s'", Image.name, tostring(kernel)), 2)
   return self
end

-- The name of the file format; or the one that toString and toBlob write.
function Image:format(kind)
   if kind == nil then
      return self.kind
   end
   self.kind = kind
   return self
end

-- Bits of a channel.
function Image:depth(bits)
   if bits == nil then
      return 8
   elseif bits ~= 8 then
      error(Image.name .. ': channels have 8 bits here, got ' .. tostring(bits), 2)
   end
   return self
end

local function reverse(picture, dim)
   local size = picture:size(dim)
   return picture:index(dim, torch.linspace(size, 1, size):long())
end

function Image:flip()
   self.pixels = reverse(pixels(self), 1)
   return self
end

function Image:flop()
   self.pixels = reverse(pixels(self), 2)
   return self
end

-- Clockwise; the background has the colour, of 0 to 1.
function Image:rotate(degrees, red, green, blue)
   self.pixels = python('rotate', pixels(self), degrees, red or 0, green or 0, blue or 0)
   return self
end

-- What of width x height from (x, y) on, counted from 0, lies in the picture.
function Image:crop(width, height, x, y)
   local picture = pixels(self)
   x, y = x or 0, y or 0
   local left, top = math.max(x, 0), math.max(y, 0)
   local right, bottom = math.min(x + width, picture:size(2)), math.min(y + height, picture:size(1))
   if left >= right or top >= bottom then
      error(string.format('%s: %d x %d at (%d, %d) is outside of a picture of %d x %d', Image.name, width, height, x, y,
         picture:size(2), picture:size(1)), 2)
   end
   self.pixels = picture[{{top + 1, bottom}, {left + 1, right}}]:clone()
   return self
end

function Image:addBorder(width, height, red, green, blue)
   local picture = pixels(self)
   local h, w, depth = picture:size(1), picture:size(2), picture:size(3)
   local wide = torch.ByteTensor(h + 2 * height, w + 2 * width, depth):fill(255)
   local colour = {red or 0, green or 0, blue or 0}
   for d = 1, depth >= 3 and 3 or 1 do
      wide:select(3, d):fill(math.floor(255 * colour[d] + 0.5))
   end
   wide[{{height + 1, height + h}, {width + 1, width + w}}]:copy(picture)
   self.pixels = wide
   return self
end

function Image:negate()
   local picture = pixels(self):clone()
   local colours = picture:narrow(3, 1, picture:size(3) >= 3 and 3 or 1)
   colours:mul(-1):add(255)
   self.pixels = picture
   return self
end

function Image:blur(radius, sigma)
   self.pixels = python('blur', pixels(self), sigma or radius or 1)
   return self
end

-- 'float' or 'double' (0 to 1) or 'byte'; its channels by their letters; 'HWD' or 'DHW'.
function Image:toTensor(kind, colours, dims)
   return channels.export(pixels(self), kind or 'byte', colours or 'RGB', dims or 'HWD')
end

function Image:fromTensor(tensor, colours, dims)
   self.pixels, self.path, self.kind = channels.import(tensor, colours, dims or 'HWD'), '<tensor>', nil
   return self
end

function Image:show(zoom)
   require('image').display{image = self:toTensor('float', nil, 'DHW'), zoom = zoom}
   return self
end

function Image:info()
   local width, height = self:size()
   return string.format('%s %s %dx%d %d channels\n', self.path, self.kind or '-', width, height, pixels(self):size(3))
end

return setmetatable(Image, {__call = function(_, ...)
   return Image.new(...)
end})
