-- The xlua package: strings.
local xlua = {}
_G.xlua = xlua
package.loaded.xlua = xlua

-- The parts of a string between separators (a pattern; white space), without empty ones.
local function split(text, separator)
   local parts = {}
   local from = 1
   separator = separator or '%s+'
   if separator == '' then
      error('bad argument #2 to string.split (the separator is empty)', 2)
   end
   while true do
      local first, last = text:find(separator, from)
      if not first then
         break
      end
      if first > from then
         parts[#parts + 1] = text:sub(from, first - 1)
      end
      from = math.max(last + 1, first + 1)
   end
   if from <= #text then
      parts[#parts + 1] = text:sub(from)
   end
   return parts
end

-- Leading and trailing white space off.
local function strip(text)
   return (text:gsub('^%s+', ''):gsub('%s+$', ''))
end

rawset(string, 'split', split)
rawset(string, 'strip', strip)

return xlua
