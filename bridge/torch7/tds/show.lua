-- How a tds object prints: a line for each element, longer values indented to where they begin.
return function(name, keys, values, indent)
   local width = 0
   for i = 1, #keys do
      width = math.max(width, #keys[i])
   end
   local margin = '\n' .. indent .. string.rep(' ', width + 3)
   local lines = {string.format('%s[%d]{', name, #keys)}
   for i = 1, #keys do
      local value = values[i]:gsub('\n([^\n])', margin .. '%1')
      lines[#lines + 1] = indent .. keys[i] .. string.rep(' ', width - #keys[i]) .. ' : ' .. value
   end
   lines[#lines + 1] = '}'
   return table.concat(lines, '\n')
end
