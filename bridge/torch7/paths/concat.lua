-- One absolute path from several: each part is taken from where the parts before it lead; '.', '..' and doubled
-- slashes are resolved.
local arguments = require 'paths.arguments'

return function(cwd, ...)
   local parts = {}
   local function append(path)
      if path:sub(1, 1) == '/' then
         parts = {}
      end
      for name in path:gmatch('[^/]+') do
         if name == '..' then
            parts[#parts] = nil
         elseif name ~= '.' then
            parts[#parts + 1] = name
         end
      end
   end
   append(cwd)
   for i = 1, select('#', ...) do
      append(arguments.text(i, 'concat', (select(i, ...))))
   end
   return '/' .. table.concat(parts, '/')
end
