-- PNG files: Python takes them apart and decompresses the rows, here these become a picture.
local calls = require 'image.calls'
local ffi = require 'ffi'
local bit = require 'bit'
local object = require 'torch.object'
local band, rshift = bit.band, bit.rshift

-- PNG's numbers of the colour types: grey, RGB, palette, grey with alpha, RGB with alpha.
local CHANNELS = {[0] = 1, [2] = 3, [3] = 3, [4] = 2, [6] = 4}
local PALETTE = 3

-- Where the passes of an interlaced picture begin and how far apart their pixels are: x, y, dx, dy.
local WHOLE = {{0, 0, 1, 1}}
local INTERLACED = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}

-- What of left, above and above left lies nearest to left + above - above left.
local function paeth(left, above, corner)
   local p = left + above - corner
   local a, b, c = math.abs(p - left), math.abs(p - above), math.abs(p - corner)
   return a <= b and a <= c and left or b <= c and above or corner
end

-- How each filter made a row's bytes into differences is undone in place: `row` and `last`, the row above, are pointers
-- to `length` bytes, a pixel has `step`.
local filters = {
   [0] = function() end,
   function(row, _, length, step)
      for i = step, length - 1 do
         row[i] = band(row[i] + row[i - step], 255)
      end
   end,
   function(row, last, length)
      for i = 0, length - 1 do
         row[i] = band(row[i] + last[i], 255)
      end
   end,
   function(row, last, length, step)
      for i = 0, step - 1 do
         row[i] = band(row[i] + rshift(last[i], 1), 255)
      end
      for i = step, length - 1 do
         row[i] = band(row[i] + rshift(row[i - step] + last[i], 1), 255)
      end
   end,
   function(row, last, length, step)
      for i = 0, step - 1 do
         row[i] = band(row[i] + last[i], 255)
      end
      for i = step, length - 1 do
         row[i] = band(row[i] + paeth(row[i - step], last[i], last[i - step]), 255)
      end
   end,
}

-- The sample at an index of a row, by how many bits one has; `whole`: both bytes of 16 bits, not only the higher one.
local function reader(bits, whole)
   if bits == 16 then
      return whole and function(row, i) return row[2 * i] * 256 + row[2 * i + 1] end or
         function(row, i) return row[2 * i] end
   elseif bits == 8 then
      return function(row, i) return row[i] end
   end
   local each, mask = 8 / bits, 2 ^ bits - 1
   return function(row, i)
      return band(rshift(row[math.floor(i / each)], 8 - bits - i % each * bits), mask)
   end
end

-- A function that puts one row's pixels into `picture` (a plane), whose columns x, x + dx and so on they are.
local function painter(picture, file, whole)
   local sample, data = reader(file.bits, whole), picture.data
   local area, channels = file.height * file.width, picture.channels
   if file.colour == PALETTE then
      local palette, colours = file.palette, file.colours
      return function(row, columns, at, dx)
         for i = 0, columns - 1 do
            local index = sample(row, i)
            for k = 0, 2 do
               data[k * area + at + i * dx] = index < colours and palette[3 * index + k] or 0
            end
         end
      end
   end
   local factor = file.bits < 8 and 255 / (2 ^ file.bits - 1) or 1
   return function(row, columns, at, dx)
      for k = 0, channels - 1 do
         for i = 0, columns - 1 do
            data[k * area + at + i * dx] = sample(row, i * channels + k) * factor
         end
      end
   end
end

local function count(size, first, step)
   return math.max(math.ceil((size - first) / step), 0)
end

-- A tensor of `example`'s type, and the largest number that can be in it; or nil and what is wrong. `file`: {rows=,
-- width=, height=, bits=, colour=, interlaced=, palette=}.
local function assemble(file, example)
   local whole = example:type() ~= 'torch.ByteTensor'
   local channels = CHANNELS[file.colour]
   local made = example.new(channels, file.height, file.width)
   local rows, palette = file.rows, file.palette
   local picture = {tensor = made, data = made:data(), channels = channels}
   file.colours, file.palette = palette:nElement() / 3, palette:nElement() > 0 and palette:data() or nil
   local paint = painter(picture, file, whole)
   local pixel = (file.colour == PALETTE and 1 or channels) * file.bits -- in bits
   local step, row = math.max(math.floor(pixel / 8), 1), rows:data()
   local zeros = ffi.new('unsigned char[?]', math.ceil(file.width * pixel / 8))
   for _, pass in ipairs(file.interlaced and INTERLACED or WHOLE) do
      local x, y, dx, dy = unpack(pass)
      local columns, lines = count(file.width, x, dx), count(file.height, y, dy)
      local length, last = math.ceil(columns * pixel / 8), zeros
      for line = 0, columns > 0 and lines - 1 or -1 do
         local undo = filters[row[0]]
         if not undo then
            return nil, 'bad adaptive filter value'
         end
         row = row + 1
         undo(row, last, length, step)
         paint(row, columns, (y + line * dy) * file.width + x, dx)
         last, row = row, row + length
      end
   end
   object.keep(rows, palette, zeros)
   return made, file.bits == 16 and whole and 65535 or 255
end

local png = {suffix = 'PNG', missing = '[read_png_file] File %s could not be opened for reading',
   nosize = '[get_png_size] File %s could not be opened for reading',
   unwritable = '[write_png_file] File %s could not be opened for writing'}

local SIGNATURE = '\137PNG\r\n\26\n'

local function begin(content, filename, step)
   if not filename and content:sub(1, 8) ~= SIGNATURE then
      error('[read_png_byte_tensor] ByteTensor is not recognized as a PNG file', 0)
   elseif #content < 8 then
      error(string.format('[%s] File %s error reading header', step, filename), 0)
   elseif content:sub(1, 8) ~= SIGNATURE then
      error(string.format('[%s] File %s is not recognized as a PNG file', step, filename), 0)
   end
end

-- A tensor of `example`'s type and the largest number in it, of a file's content; no filename: it was in memory.
function png.load(content, example, filename)
   begin(content, filename, 'read_png_file')
   local rows, width, height, bits, colour, interlaced, palette = calls.python('scanlines', content)
   if not rows then
      local step, message = width, height
      local reading = step == 'init_io' and 'read_png' or 'read_png_file'
      error(string.format('[%s] Error during %s: %s', reading, step, message), 0)
   end
   local made, most = assemble({rows = rows, width = width, height = height, bits = bits, colour = colour,
      interlaced = interlaced, palette = palette}, example)
   if not made then
      error('[read_png_file] Error during read_image: ' .. most, 0)
   end
   return made, most
end

function png.size(content, filename)
   begin(content, filename, 'get_png_size')
   local colour, height, width = calls.python('pngsize', content)
   if not colour then
      error('[get_png_size] Error during init_io: ' .. height, 0)
   elseif colour == PALETTE then
      error('[get_png_size] unsupported type: PALETTE', 0)
   end
   return CHANNELS[colour], height, width
end

function png.check(dims, channels)
   if dims ~= 2 and dims ~= 3 or channels ~= 1 and channels ~= 3 and channels ~= 4 then
      error('[write_png_file] Depth must be 1, 3 or 4', 0)
   end
end

function png.content(pixels)
   return calls.encode(pixels, 'png', 75)
end

return png
