-- Where in the program we were called from: the innermost function that is not part of this runtime.
local root = debug.getinfo(1, 'S').source:match('^(.*[/\\])nngraph[/\\]') or '@'

-- '[file]:line' with `suffix` behind it, or nil if none of the innermost 200 calls is in the program.
return function(suffix)
   for level = 2, 200 do
      local info = debug.getinfo(level, 'Sl')
      if not info then
         return nil
      elseif info.what ~= 'C' and info.currentline > 0 and info.source:sub(1, #root) ~= root then
         return string.format('[%s]:%d%s', info.short_src, info.currentline, suffix or '')
      end
   end
end
