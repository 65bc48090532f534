-- The parts of a string between separators (a pattern; white space if there is none). An empty part is kept, except
-- before the first separator and behind the last one.
return function(text, separator)
   separator = separator or '%s+'
   local parts = {}
   local from = 1
   while true do
      local first, last = text:find(separator, from)
      if not first then
         break
      elseif last < first then
         error("bad argument #2 to 'split' (the separator is empty)", 3)
      end
      if first > 1 then
         parts[#parts + 1] = text:sub(from, first - 1)
      end
      from = last + 1
   end
   if from <= #text then
      parts[#parts + 1] = text:sub(from)
   end
   return parts
end
