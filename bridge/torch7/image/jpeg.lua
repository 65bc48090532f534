-- JPEG files, which Python reads and writes. What is wrong with one is said in libjpeg's words.
local calls = require 'image.calls'

local jpeg = {suffix = 'JPG', missing = 'cannot open file <%s> for reading',
   nosize = 'cannot open file <%s> for reading', unwritable = 'Error opening output jpeg file %s\n!'}

-- A tensor of `example`'s type and the largest number in it, of a file's content.
function jpeg.load(content, example)
   local pixels, message = calls.python('jpegpixels', content)
   if not pixels then
      error(message, 0)
   end
   return pixels:type(example:type()), 255
end

function jpeg.size(content)
   local channels, height, width = calls.python('jpegsize', content)
   if not channels then
      error(height, 0)
   end
   return channels, height, width
end

function jpeg.check(dims, channels)
   if dims == 3 and channels ~= 1 and channels ~= 3 then
      error('tensor should have 1 or 3 channels (gray or RGB)', 0)
   elseif dims ~= 2 and dims ~= 3 then
      error('supports only 1 or 3 dimension tensors', 0)
   end
end

function jpeg.content(pixels, quality)
   local number = tonumber(quality or 75)
   if not number then
      error(string.format("bad argument #4 to 'save' (number expected, got %s)", type(quality)), 0)
   elseif not (number > -1 and number < 101) then
      error('quality should be between 0 and 100', 0)
   end
   return calls.encode(pixels, 'jpg', number < 0 and 0 or math.floor(number))
end

return jpeg
