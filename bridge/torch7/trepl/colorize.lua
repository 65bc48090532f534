-- Text in colours of the terminal: colorize.red('text'), colorize.Red (bright), colorize._red (behind the text).
local sys = require 'sys'

local colorize = {}

for name, code in pairs(sys.COLORS) do
   colorize[name] = function(text)
      return code .. tostring(text) .. sys.COLORS.none
   end
end

return colorize
