-- What a call that fits no form is told: the arguments it had, and all that would have fitted, in torch.cwrap's words.
local arguments = require 'torch.arguments'

local expected = {}

-- What one word of a form is called for tensors of `element`.
local function word(token, element)
   local kind = token.kind
   if token.tensor then
      kind = (kind == 'T' and element.name or kind) .. 'Tensor' .. (token.dims and '~' .. token.dims .. 'D' or '')
   elseif kind == 'array' then
      kind = '{' .. element.tensor .. '+}'
   elseif kind == 'sizes' then
      kind = '(LongStorage | dim1 [dim2...])'
   elseif kind == 'real' then
      kind = element.printed
   elseif kind == 'accreal' then
      kind = element.integer and 'long' or 'double'
   end
   kind = token.result and '*' .. kind .. '*' or kind
   return token.optional and '[' .. kind .. ']' or kind
end

local function given(...)
   local words = {}
   for i = 1, select('#', ...) do
      words[i] = arguments.describe((select(i, ...))) .. ' '
   end
   return #words == 0 and 'no arguments provided' or table.concat(words)
end

-- `forms`: lists of tokens, as torch.forms parses them.
function expected.message(forms, element, ...)
   local texts = {}
   for i, form in ipairs(forms) do
      local words = {}
      for k, token in ipairs(form) do
         words[k] = word(token, element)
      end
      texts[i] = table.concat(words, ' ')
   end
   return 'invalid arguments: ' .. given(...) .. '\nexpected arguments: ' .. table.concat(texts, ' | ')
end

return expected
