-- The parts of a string between separators (a pattern; white space if there is none). An empty part is kept, except
-- before the first separator and behind the last one.
return function(text, separator)
   local pattern = '(.-)' .. (separator or '%s+')
   local parts = {}
   local from = 1
   while true do
      local first, last, part = text:find(pattern, from)
      if not first then
         break
      elseif last < from then
         error("bad argument #2 to 'split' (the separator is empty)", 3)
      end
      if first > 1 or part ~= '' then
         parts[#parts + 1] = part
      end
      from = last + 1
   end
   if from <= #text then
      parts[#parts + 1] = text:sub(from)
   end
   return parts
end
