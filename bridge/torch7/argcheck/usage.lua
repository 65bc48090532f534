-- What a checker says of the arguments that it takes, and of those that it got.
local env = require 'argcheck.env'

local SHOWN = 20 -- fields of a table of named arguments

local usage = {}

function usage.isoptional(rule)
   return rule.opt or rule.default ~= nil or rule.defaulta ~= nil or rule.defaultf ~= nil
end

local function default(rule)
   if rule.defaulta then
      return string.format(' [defaulta=%s]', rule.defaulta)
   elseif rule.defaultf then
      return ' [has default]'
   elseif rule.default == nil then
      return ''
   elseif type(rule.default) == 'table' or type(rule.default) == 'userdata' or type(rule.default) == 'function' then
      return ' [has default value]'
   end
   return string.format(' [default=%s]', tostring(rule.default))
end

local function pad(text, width)
   return text .. (' '):rep(width - #text)
end

local function widest(texts)
   local width = 0
   for _, text in ipairs(texts) do
      width = math.max(width, #text)
   end
   return width
end

-- The arguments one a line, in the brackets of the calls that are allowed.
function usage.arguments(rules)
   local names, columns = {}, {}
   for i, rule in ipairs(rules) do
      names[i] = rule.name
   end
   local width = widest(names)
   for i, rule in ipairs(rules) do
      local text = pad(rule.name, width) .. (rule.type and ' = ' .. rule.type or '')
      columns[i] = usage.isoptional(rule) and '[' .. text .. ']' or ' ' .. text
   end
   width = widest(columns)
   local open = (rules.noordered and '' or '(') .. (rules.nonamed and '' or '{')
   local close = (rules.nonamed and '' or '}') .. (rules.noordered and '' or ')')
   local lines = {open}
   for i, rule in ipairs(rules) do
      local help = (rule.help or '') .. (rule.doc or '') .. default(rule)
      lines[#lines + 1] = '  ' .. pad(columns[i], width) .. '  -- ' .. help
   end
   lines[#lines + 1] = close
   return table.concat(lines, '\n')
end

-- The arguments in one line: 'x, [y]'.
local function inline(rules)
   local parts = {}
   for i, rule in ipairs(rules) do
      local text = (i > 1 and ', ' or '') .. rule.name
      parts[i] = usage.isoptional(rule) and '[' .. text .. ']' or text
   end
   return table.concat(parts)
end

-- The help of a set of rules. '@ARGT' in its text stands for the table of arguments, '@ARGP' for the line; a text
-- with neither has the table behind it.
function usage.help(rules)
   local text = rules.help or rules.doc
   local arguments = usage.arguments(rules)
   if not text then
      return '\nArguments:\n\n' .. arguments .. '\n'
   elseif not text:find('@ARG[TP]') then
      return text .. '\nArguments:\n\n' .. arguments .. '\n'
   end
   local parts = {T = '\n' .. arguments .. '\n', P = inline(rules)}
   return (text:gsub('@ARG([TP])', parts))
end

local function fields(object)
   local list = {}
   for key, value in pairs(object) do
      if #list == SHOWN then
         list[#list + 1] = '...'
         break
      end
      list[#list + 1] = type(key) == 'string' and key .. '=' .. env.type(value) or '[' .. env.type(key) .. ']=?'
   end
   return 'table={ ' .. table.concat(list, ', ') .. ' }'
end

-- What came: the types of the arguments, and the fields of the one at `named`.
function usage.got(named, ...)
   local list = {}
   for i = 1, select('#', ...) do
      local value = select(i, ...)
      list[i] = i == named and type(value) == 'table' and fields(value) or env.type(value)
   end
   return 'Got: ' .. table.concat(list, ', ')
end

return usage
