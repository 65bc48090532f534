-- How containers whose modules stand side by side print.
return function(self, title)
   local lines = {title .. ' {\n  input'}
   local last = #self.modules
   for i, module in ipairs(self.modules) do
      local arrow, inner = '  |`-> ', '  |    '
      if i == last then
         arrow, inner = '   `-> ', '       '
      end
      lines[#lines + 1] = string.format('  %s(%d): %s', arrow, i, (tostring(module):gsub('\n', '\n  ' .. inner)))
   end
   lines[#lines + 1] = '     ... -> output\n}'
   return table.concat(lines, '\n')
end
