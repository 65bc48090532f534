-- One absolute path from several: each part is taken from where the parts before it lead; '.', '..' and doubled
-- slashes are resolved.
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
   append(cwd() or '/')
   for i = 1, select('#', ...) do
      local part = select(i, ...)
      if type(part) ~= 'string' then
         error(string.format("bad argument #%d to 'concat' (string expected, got %s)", i, type(part)), 3)
      end
      append(part)
   end
   return '/' .. table.concat(parts, '/')
end
