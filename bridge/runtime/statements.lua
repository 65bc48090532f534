-- Statements that Torch7's LuaJIT accepts and this one refuses: `break` within a block, empty statements (`;;`), and a
-- call whose parenthesis is on a new line. Rewriting them does not change line numbers.
local lexer = require 'bridge.runtime.lexer'

local find, sub = string.find, string.sub

local statements = {}

local openers = {['do'] = true, ['then'] = true, ['else'] = true, ['repeat'] = true, [';'] = true, ['::'] = true}
local keywords = {}
for word in ([[and break do else elseif end false for function if in local nil not or repeat return then true until
               while]]):gmatch('%a+') do
   keywords[word] = true
end

-- The end of the token at `pos`, and its text if it is a word or sign, or 'value' for a string or number. Nil if the
-- source is not Lua.
local function token(source, pos)
   local stop = lexer.word(source, pos)
   if stop then
      return stop, sub(source, pos, stop - 1)
   end
   stop = lexer.number(source, pos)
   if stop then
      return stop, 'value'
   elseif find(source, '^["\']', pos) then
      return lexer.quoted(source, pos), 'value'
   elseif find(source, '^::', pos) then
      return pos + 2, '::'
   end
   stop = lexer.long(source, pos)
   if stop ~= nil then
      return stop or nil, 'value'
   end
   return pos + 1, sub(source, pos, pos)
end

-- Can an expression that ends with this token be called?
local function callable(last)
   return last == ')' or last == ']' or find(last, '^[%a_\128-\255]') and not keywords[last] and last ~= 'value'
end

-- The source with such statements rewritten. To be used only for source that LuaJIT refused.
function statements.relax(source)
   local out, copied = {}, 1
   local function replace(from, to, text) -- the bytes from..to-1
      out[#out + 1] = sub(source, copied, from - 1)
      out[#out + 1] = text
      copied = to
   end
   local pos = lexer.header(source)
   local last, ended = ';', pos -- the token before `pos`, and where it ended
   local parameters = false     -- true within the parameters of a function
   while true do
      pos = lexer.skip(source, pos)
      if pos > #source then
         break
      end
      local stop, what = token(source, pos)
      if not stop then
         return source
      elseif what == 'break' then
         replace(pos, stop, 'do break end')
      elseif what == ';' and openers[last] then
         replace(pos, stop, ' ')
      elseif what == 'function' then
         parameters = true
      elseif what == '(' and not parameters and callable(last) and find(sub(source, ended, pos - 1), '[\r\n]') then
         replace(ended, ended, '(')
         replace(pos, stop, ' ')
      elseif what == ')' and parameters then
         parameters, what = false, ';' -- a block begins
      end
      last, pos, ended = what, stop, stop
   end
   out[#out + 1] = sub(source, copied)
   return table.concat(out)
end

return statements
