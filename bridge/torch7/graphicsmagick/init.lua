-- The graphicsmagick package: pictures as objects whose methods change them and can be chained, files of many formats,
-- and channels in any order as tensors. Pillow reads, writes and resizes.
require 'torch'

local gm = {Image = require 'graphicsmagick.Image'}
package.loaded.graphicsmagick = gm

-- Width, height and format of a file.
function gm.info(path)
   local picture = gm.Image(path)
   local width, height = picture:size()
   return {width = width, height = height, format = picture:format()}
end

-- {input, output [, size = 'WxH'] [, quality] [, verbose]}: a file as another one.
function gm.convert(options)
   local known = {input = true, output = true, size = true, quality = true, verbose = true}
   for name in pairs(options) do
      if not known[name] then
         error(string.format("graphicsmagick.convert: unknown option '%s'; gm.Image has methods for what is done to a"
            .. ' picture', tostring(name)), 2)
      end
   end
   local picture = gm.Image(options.input)
   if options.size then
      local width, height = tostring(options.size):match('^(%d*)x?(%d*)$')
      if not width or width .. height == '' then
         error("graphicsmagick.convert: expected a size as '128x128', got " .. tostring(options.size), 2)
      end
      -- Both are limits that the picture has to fit in, as in `gm convert -size`.
      local w, h = picture:size()
      local scale = math.min((tonumber(width) or math.huge) / w, (tonumber(height) or math.huge) / h)
      picture:size(math.max(1, math.floor(w * scale + 0.5)), math.max(1, math.floor(h * scale + 0.5)))
   end
   picture:save(options.output, options.quality)
   if options.verbose then
      print(string.format('%s => %s', options.input, options.output))
   end
end

return gm
