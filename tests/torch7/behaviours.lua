-- describe(expression): what it returns or raises, written as in tests/data/torch7/BEHAVIOURS.txt.
local format

local function entries(value)
   local keys = {}
   for key in pairs(value) do
      keys[#keys + 1] = key
   end
   table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
   for i, key in ipairs(keys) do
      keys[i] = tostring(key) .. '=' .. format(value[key])
   end
   return '{' .. table.concat(keys, ', ') .. '}'
end

function format(value)
   local kind = type(value)
   if kind == 'number' then
      return string.format('%.17g', value)
   elseif kind == 'string' then
      return string.format('%q', value)
   elseif kind == 'function' then
      return 'function'
   elseif kind == 'table' and not torch.typename(value) then
      return entries(value)
   elseif torch.isTensor(value) or torch.isStorage(value) or kind == 'boolean' or kind == 'nil' then
      return '\n' .. tostring(value)
   end
   local text = tostring(value)
   return text:find('\n') and '\n' .. text or text
end

local function list(ok, ...)
   if not ok then
      return 'ERROR ' .. tostring((...))
   end
   local out = {string.format('-> %d value(s)\n', select('#', ...))}
   for i = 1, select('#', ...) do
      out[#out + 1] = string.format('  [%d] %s\n', i, format((select(i, ...))))
   end
   return table.concat(out)
end

return function(expression)
   local chunk = loadstring('return ' .. expression, 'return ' .. expression) or loadstring(expression, expression)
   return list(pcall(chunk))
end
