-- What xlua adds to the string library.
local split = require 'sys.split'

return function()
   local string = string

   rawset(string, 'split', function(text, separator)
      return split(text, separator)
   end)

   -- Leading and trailing white space off.
   rawset(string, 'strip', function(text)
      return (text:gsub('^%s+', ''):gsub('%s+$', ''))
   end)

   -- The value that a name stands for: ('nn.Linear'):tosymbol().
   rawset(string, 'tosymbol', function(text)
      local chunk = loadstring('return ' .. text)
      local ok, value = pcall(chunk)
      if not ok then
         error(value, 2)
      elseif not value then
         error('symbol "' .. text .. '" does not exist', 2)
      end
      return value
   end)
end
