-- Text in colours of the terminal: colorize.red('text'), colorize.Red (bold), colorize._red (behind the text).
local colors = require 'trepl.colors'

local colorize = {}

for name in pairs(colors) do
   colorize[name] = function(text)
      return colors[name] .. text .. colors.none
   end
end

return colorize
