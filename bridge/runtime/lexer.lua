-- Finds where the tokens of Lua source end: the part of a lexer that rewriting expressions needs.
--
-- Positions count bytes from 1; an "end" is the position after the last byte. A function returns nil if the source is
-- not Lua.
local find, sub, byte = string.find, string.sub, string.byte

local lexer = {}

-- The end of the long bracket that opens at `pos`; nil if none opens there, false if it is never closed.
function lexer.long(source, pos)
   local _, opened, level = find(source, '^%[(=*)%[', pos)
   if not opened then
      return nil
   end
   local _, closed = find(source, ']' .. level .. ']', opened + 1, true)
   return closed and closed + 1 or false
end

-- The end of the quoted string that opens at `pos`.
function lexer.quoted(source, pos)
   local quote = sub(source, pos, pos)
   local stop = quote == '"' and '["\\\r\n]' or "['\\\r\n]"
   local at = pos + 1
   while true do
      at = find(source, stop, at)
      if not at then
         return nil
      end
      local c = byte(source, at)
      if c == 92 then -- a backslash: the next character belongs to the string; \z skips all white space
         if find(source, '^z', at + 1) then
            at = find(source, '[^%s]', at + 2) or #source + 1
         elseif find(source, '^\r\n', at + 1) or find(source, '^\n\r', at + 1) then
            at = at + 3
         else
            at = at + 2
         end
      elseif c == 10 or c == 13 then
         return nil
      else
         return at + 1
      end
   end
end

-- The end of the comment whose '--' is at `pos`.
function lexer.comment(source, pos)
   local long = lexer.long(source, pos + 2)
   if long ~= nil then
      return long or nil
   end
   return find(source, '[\r\n]', pos + 2) or #source + 1
end

-- The next position that is neither white space nor comment.
function lexer.skip(source, pos)
   while true do
      pos = find(source, '[^%s]', pos)
      if not pos then
         return #source + 1
      end
      if not find(source, '^%-%-', pos) then
         return pos
      end
      pos = lexer.comment(source, pos)
      if not pos then
         return #source + 1
      end
   end
end

-- The end of the number at `pos`, or nil.
function lexer.number(source, pos)
   if not find(source, '^%.?%d', pos) then
      return nil
   end
   local hex = find(source, '^0[xX]', pos)
   local at = pos
   while true do
      local _, stop = find(source, '^[%w_.\128-\255]*', at)
      at = stop + 1
      -- a sign right after the exponent's letter belongs to the number
      local exponent = hex and '^[pP]' or '^[eE]'
      if not (find(source, exponent, stop) and find(source, '^[+-]', at)) then
         return at
      end
      at = at + 1
   end
end

-- The end of the name or keyword at `pos`, or nil.
function lexer.word(source, pos)
   local _, stop = find(source, '^[%a_\128-\255][%w_\128-\255]*', pos)
   return stop and stop + 1
end

-- The end of a byte order mark and of a first line that begins with '#', which Lua skips.
function lexer.header(source)
   local pos = find(source, '^\239\187\191') and 4 or 1
   if find(source, '^#', pos) then
      return find(source, '[\r\n]', pos) or #source + 1
   end
   return pos
end

return lexer
