-- How a tds object prints: a line for each of its first elements, the lines of longer values below where they begin.
local show = {MOST = 20} -- elements that are shown

-- `layout` is the format of a key with what stands behind it.
function show.text(name, count, layout, keys, values)
   local lines = {string.format('%s[%d]{', name, count)}
   for i, key in ipairs(keys) do
      local head = layout:format(key)
      local margin = (' '):rep(#head)
      local first = true
      lines[#lines + 1] = (values[i]:gsub('[^\n]+', function(line)
         local before = first and head or margin
         first = false
         return before .. line
      end))
   end
   if #keys == show.MOST then
      lines[#lines + 1] = '...'
   end
   lines[#lines + 1] = '}'
   return table.concat(lines, '\n')
end

return show
