-- What a terminal does with the text behind these: plain names thin, capital ones bold, '_' before a name its
-- background. `noColors` makes all of them empty.
local colors = {none = '\27[0m', bright = '\27[1m', dim = '\27[2m', underline = '\27[4m', blink = '\27[5m',
   reverse = '\27[7m', hidden = '\27[8m'}

for i, name in ipairs{'black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'} do
   colors[name] = string.format('\27[0;%dm', 29 + i)
   colors[name:gsub('^%l', string.upper)] = string.format('\27[1;%dm', 29 + i)
   colors['_' .. name] = string.format('\27[%dm', 39 + i)
end

return colors
