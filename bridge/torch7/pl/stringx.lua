-- Strings in the manner of Python; `stringx.import()` makes these methods of all strings.
local List = require 'pl.List'
local utils = require 'pl.utils'

local stringx = {}

local function text(index, value)
   return utils.assert_string(index, value)
end

-- ---- questions

for name, pattern in pairs{isalpha = '^%a+$', isdigit = '^%d+$', isalnum = '^%w+$', isspace = '^%s+$',
      islower = '^[%l%s]+$', isupper = '^[%u%s]+$'} do
   stringx[name] = function(s)
      return text(1, s):find(pattern) == 1
   end
end

local function any(affix, test)
   if type(affix) == 'string' then
      return test(affix)
   end
   utils.assert_arg(2, affix, 'table')
   for _, one in ipairs(affix) do
      if test(one) then
         return true
      end
   end
   return false
end

-- Does it begin, or end, with this (or one of these)?
function stringx.startswith(s, prefix)
   text(1, s)
   return any(prefix, function(one) return s:sub(1, #one) == one end)
end

function stringx.endswith(s, suffix)
   text(1, s)
   return any(suffix, function(one) return one == '' or s:sub(-#one) == one end)
end

-- ---- parts

function stringx.join(s, list)
   return table.concat(list, text(1, s))
end

-- The parts between separators; without one, between white space.
function stringx.split(s, separator, n)
   text(1, s)
   if not separator then
      s = s:gsub('^%s+', '')
      if not n then
         s = s:gsub('%s+$', '')
      end
      local parts = utils.split(s, nil, false, n)
      return setmetatable(parts, List)
   elseif separator == '' then
      error('empty separator', 2)
   elseif s == '' then
      return List()
   end
   local parts, from = List(), 1
   while true do
      local first, last = s:find(separator, from, true)
      if not first or n and #parts == n - 1 then
         parts:append(s:sub(from))
         return parts
      end
      parts:append(s:sub(from, first - 1))
      from = last + 1
   end
end

function stringx.splitv(s, separator)
   return unpack(stringx.split(s, separator))
end

function stringx.splitlines(s, keep)
   text(1, s)
   local lines, from = List(), 1
   while from <= #s do
      local first, last = s:find('\r?\n', from)
      first, last = first or #s + 1, last or #s
      lines:append(s:sub(from, keep and last or first - 1))
      from = last + 1
   end
   return lines
end

-- An iterator over the lines.
function stringx.lines(s)
   text(1, s)
   return (s:find('\n$') and s or s .. '\n'):gmatch('([^\n]*)\n')
end

-- What is before the first separator, the separator, what is behind it.
function stringx.partition(s, separator)
   text(1, s)
   if utils.assert_arg(2, separator, 'string') == '' then
      error('argument 2 expected a non-empty string', 2)
   end
   local first, last = s:find(separator, 1, true)
   if not first then
      return s, '', ''
   end
   return s:sub(1, first - 1), separator, s:sub(last + 1)
end

-- The same at the last separator.
function stringx.rpartition(s, separator)
   text(1, s)
   if utils.assert_arg(2, separator, 'string') == '' then
      error('argument 2 expected a non-empty string', 2)
   end
   local at = stringx.rfind(s, separator)
   if not at then
      return '', '', s
   end
   return s:sub(1, at - 1), separator, s:sub(at + #separator)
end

function stringx.at(s, i)
   return text(1, s):sub(i, i)
end

-- ---- searching

function stringx.lfind(s, sub, first, last)
   text(1, s)
   text(2, sub)
   local at, to = s:find(sub, first or 1, true)
   if at and (not last or to <= last) then
      return at
   end
   return nil
end

function stringx.rfind(s, sub, first, last)
   text(1, s)
   text(2, sub)
   first, last = first or 1, last or #s
   for at = math.min(last, #s) - #sub + 1, first, -1 do
      if s:sub(at, at + #sub - 1) == sub then
         return at
      end
   end
   return nil
end

-- Replace a text (no pattern) everywhere, or n times.
function stringx.replace(s, old, new, n)
   text(1, s)
   text(2, old)
   text(3, new)
   return (s:gsub(utils.escape(old), (new:gsub('%%', '%%%%')), n))
end

function stringx.count(s, sub, overlapping)
   text(1, s)
   local count, at = 0, 1
   while sub ~= '' do
      local first, last = s:find(sub, at, true)
      if not first then
         break
      end
      count, at = count + 1, overlapping and first + 1 or last + 1
   end
   return count
end

-- ---- shape

local function pad(s, width, fill, left, right)
   local missing = math.max(0, width - #s)
   fill = fill or ' '
   if left and right then
      local before = math.floor(missing / 2)
      return fill:rep(before) .. s .. fill:rep(missing - before)
   end
   return left and fill:rep(missing) .. s or s .. fill:rep(missing)
end

function stringx.ljust(s, width, fill)
   return pad(text(1, s), width, fill, false, true)
end

function stringx.rjust(s, width, fill)
   return pad(text(1, s), width, fill, true, false)
end

function stringx.center(s, width, fill)
   return pad(text(1, s), width, fill, true, true)
end

local function class(characters)
   return characters and '[' .. utils.escape(characters) .. ']' or '%s'
end

function stringx.lstrip(s, characters)
   return (text(1, s):gsub('^' .. class(characters) .. '+', ''))
end

function stringx.rstrip(s, characters)
   text(1, s)
   local pattern, last = '^' .. class(characters), #s
   while last > 0 and s:find(pattern, last) do
      last = last - 1
   end
   return s:sub(1, last)
end

function stringx.strip(s, characters)
   return stringx.lstrip(stringx.rstrip(s, characters), characters)
end

function stringx.expandtabs(s, width)
   text(1, s)
   width = width or 8
   local function line(one)
      return (one:gsub('([^\t]*)\t', function(before)
         return before .. (' '):rep(width - #before % width)
      end))
   end
   return (s:gsub('[^\r\n]+', line))
end

-- Every word with a capital.
function stringx.title(s)
   return (text(1, s):gsub('(%S)(%S*)', function(first, rest) return first:upper() .. rest:lower() end))
end
stringx.capitalize = stringx.title

local ELLIPSIS = '...'

-- At most `width` characters, dots for what is left out at the end, or at the beginning if `tail`.
function stringx.shorten(s, width, tail)
   text(1, s)
   if #s <= width then
      return s
   elseif width < #ELLIPSIS then
      return ELLIPSIS:sub(1, width)
   elseif tail then
      local i = #s - width + 1 + #ELLIPSIS
      return ELLIPSIS .. s:sub(i)
   end
   return s:sub(1, width - #ELLIPSIS) .. ELLIPSIS
end

-- As Lua source, in the fewest long brackets that it needs.
function stringx.quote_string(s)
   text(1, s)
   if s:find('\n') and not s:find('\r') then
      local level = ''
      while s:find(']' .. level .. ']', 1, true) or s:sub(-#level - 1) == ']' .. level do
         level = level .. '='
      end
      return '[' .. level .. '[' .. (s:sub(1, 1) == '\n' and '\n' or '') .. s .. ']' .. level .. ']'
   end
   return (('%q'):format(s):gsub('\r', '\\r'))
end

-- ---- paragraphs

-- The lines without the indentation of the first.
function stringx.dedent(s)
   local first = text(1, s):match('^%s*'):match('[^\n]*$')
   local lines = stringx.splitlines(s)
   for i, line in ipairs(lines) do
      lines[i] = line:gsub('^' .. first, '')
   end
   return table.concat(lines, '\n') .. '\n'
end

function stringx.indent(s, n, character)
   local lines = stringx.splitlines(text(1, s))
   local indentation = (character or ' '):rep(n)
   for i, line in ipairs(lines) do
      lines[i] = indentation .. line
   end
   return table.concat(lines, '\n') .. '\n'
end

-- Words in lines of at most `width` (70) characters, as a list.
function stringx.wrap(s, width, break_words)
   width = width or 70
   if not (width >= 1) then
      error('argument 2: a width of at least 1 expected, got ' .. tostring(width), 2)
   end
   local lines, line = List(), nil
   for word in text(1, s):gmatch('%S+') do
      while break_words and #word > width do
         if line then
            lines:append(line)
            line = nil
         end
         lines:append(word:sub(1, width))
         word = word:sub(width + 1)
      end
      if line and #line + 1 + #word > width then
         lines:append(line)
         line = word
      else
         line = line and line .. ' ' .. word or word
      end
   end
   if line then
      lines:append(line)
   end
   return lines
end

function stringx.fill(s, width, break_words)
   return stringx.wrap(s, width, break_words):concat('\n') .. '\n'
end

-- ---- formats

-- Make `'%d' % 5` and `'%s %s' % {a, b}` formats, and `'$x' % {x = 1}` a template.
function stringx.format_operator()
   local metatable = debug.getmetatable('')
   function metatable.__mod(format, value)
      if type(value) ~= 'table' or getmetatable(value) then
         return format:format(value)
      elseif format:find('%$') and #value == 0 then
         return stringx.Template(format):substitute(value)
      end
      return format:format(unpack(value))
   end
end

local Template = {}
Template.__index = Template

local function substitute(template, values, missing)
   return (template:gsub('%$({?)([%w_]+)(}?)', function(open, key, close)
      local value
      if type(values) == 'function' then
         value = values(key)
      else
         value = values[key]
      end
      if value == nil then
         return missing('$' .. open .. key .. close, key)
      end
      return tostring(value) .. (open == '' and close or '')
   end))
end

-- All of $name and ${name} replaced from a table or a function; one that is missing is an error ...
function Template:substitute(values)
   return substitute(self.tmpl, values, function(_, key) error('not present in table ' .. tostring(key), 4) end)
end

-- ... or stays.
function Template:safe_substitute(values)
   return substitute(self.tmpl, values, function(whole) return whole end)
end

function Template:indent_substitute(values)
   return (self.tmpl:gsub('([^\n]*)%$([%a_][%w_]*)', function(before, key)
      local value = tostring(values[key])
      local indentation = before:match('^%s*$')
      return before .. (indentation and value:gsub('\n', '\n' .. indentation) or value)
   end))
end

stringx.Template = setmetatable({}, {__call = function(_, template)
   return setmetatable({tmpl = text(1, template)}, Template)
end, __index = Template})

-- Make these functions methods of all strings.
function stringx.import()
   for name, f in pairs(stringx) do
      if name ~= 'import' and name ~= 'Template' then
         rawset(string, name, f)
      end
   end
end

return stringx
