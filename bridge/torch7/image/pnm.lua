-- PPM and PGM files, of text or bytes.
local calls = require 'image.calls'
local ffi = require 'ffi'
local object = require 'torch.object'

local pnm = {suffix = 'PPM', missing = 'cannot open file <%s> for reading',
   nosize = 'cannot open file <%s> for reading', unwritable = 'cannot open file <%s> for writing'}

local CHANNELS = {['2'] = 1, ['3'] = 3, ['5'] = 1, ['6'] = 3}
local TEXT = {['2'] = true, ['3'] = true}

local SHORT = 'corrupted file or read error'
local COMMENT = '^#[^\r\n]*[\r\n]?()'

-- The number at a place of a file, and the place behind the character (or comment) after it. Before it there may be
-- blanks, commas and comments.
local function number(content, at)
   repeat
      local behind = content:match(COMMENT, at) or content:match('^[ ,\t\r\n]+()', at)
      at = behind or at
   until not behind
   local digits, behind = content:match('^(%d+)()', at)
   if not digits then
      error('corrupted file', 0)
   end
   return tonumber(digits), content:match(COMMENT, behind) or behind + 1
end

-- Channels, height, width, the largest number and the place where the pixels begin; what is wrong is raised.
local function header(content)
   if content:sub(1, 1) ~= 'P' then
      error('corrupted file', 0)
   end
   local kind = content:sub(2, 2)
   local channels = CHANNELS[kind]
   if not channels then
      error('unsupported magic number: P' .. kind, 0)
   end
   local width, height, most, at
   width, at = number(content, 3)
   height, at = number(content, at)
   most, at = number(content, at)
   if width < 1 or height < 1 or most < 1 then
      error('corrupted file', 0)
   end
   return {channels = channels, height = height, width = width, most = most, at = at, text = TEXT[kind]}
end

-- A function of an index, in their order, that returns a sample: 0 to 255, or, where the largest number says so, two
-- bytes of which the original takes the first as the lower. Nil where the file is too short.
local function samples(content, file)
   local total, at = file.channels * file.height * file.width, file.at
   local bytes = not file.text and file.most > 255 and 2 or 1
   if #content - at + 1 < total * bytes then
      return nil
   elseif file.text then
      return function()
         local digits, behind = content:match('^%s*([+-]?%d+)()', at)
         at = behind
         return digits and math.floor(255 * tonumber(digits) / file.most) % 256
      end
   end
   local data = ffi.cast('const unsigned char *', content) + at - 1
   if bytes == 1 then
      return function(i) return data[i] end
   end
   return function(i) return data[2 * i] + data[2 * i + 1] * 256 end
end

-- A tensor of `example`'s type and the number that is its white, of a file's content.
function pnm.load(content, example)
   local file = header(content)
   local sample = samples(content, file)
   if not sample then
      error(SHORT, 0)
   end
   local made = example.new(file.channels, file.height, file.width)
   local data, area = made:data(), file.height * file.width
   for i = 0, area - 1 do
      for k = 0, file.channels - 1 do
         local value = sample(i * file.channels + k)
         if not value then
            error(SHORT, 0)
         end
         data[k * area + i] = value
      end
   end
   object.keep(made, content)
   return made, 255
end

function pnm.size(content)
   local file = header(content)
   return file.channels, file.height, file.width
end

function pnm.check(dims)
   if dims ~= 2 and dims ~= 3 then
      error('can only export tensor with geometry: HxW or 1xHxW or 3xHxW', 0)
   end
end

-- The file of a ByteTensor of height x width, or 1 or 3 x height x width.
function pnm.content(pixels)
   local dims = pixels:dim()
   local height, width = pixels:size(dims - 1), pixels:size(dims)
   local coloured = dims == 3 and pixels:size(1) == 3
   pixels = coloured and pixels:permute(2, 3, 1) or pixels
   return string.format('P%d\n%d %d\n255\n', coloured and 6 or 5, width, height) .. calls.bytes(pixels)
end

return pnm
