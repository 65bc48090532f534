-- Lua tables as Lua source, and back.
local stringx = require 'pl.stringx'
local utils = require 'pl.utils'

local pretty = {}

local keywords = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat return then true
      until while]]):gmatch('%a+') do
   keywords[word] = true
end

local function identifier(key)
   return type(key) == 'string' and key:find('^[%a_][%w_]*$') and not keywords[key]
end

-- Keys in an order that is always the same: numbers, then strings, then the rest.
local function sorted(object)
   local keys = {}
   for key in pairs(object) do
      keys[#keys + 1] = key
   end
   local rank = {number = 1, string = 2}
   table.sort(keys, function(a, b)
      local x, y = rank[type(a)] or 3, rank[type(b)] or 3
      if x ~= y then
         return x < y
      elseif x == 3 then
         return tostring(a) < tostring(b)
      end
      return a < b
   end)
   return keys
end

local function scalar(value)
   if type(value) == 'string' then
      return stringx.quote_string(value)
   elseif type(value) == 'number' or type(value) == 'boolean' or value == nil then
      return tostring(value)
   end
   return stringx.quote_string(tostring(value))
end

-- A table as source, indented by `space` (two blanks; '' gives one line). A cycle is written as '<cycle>'.
function pretty.write(object, space, plain)
   if type(object) ~= 'table' then
      if type(object) == 'string' then
         return stringx.quote_string(object)
      end
      return tostring(object), 'not a table'
   end
   space = space or '  '
   local separator, newline = space == '' and ',' or ',\n', space == '' and '' or '\n'
   local equals = space == '' and '=' or ' = '
   local open = {}
   local function write(value, indentation)
      if type(value) ~= 'table' then
         return scalar(value)
      end
      local metatable = getmetatable(value)
      if type(metatable) == 'table' and metatable.__tostring and value ~= object then
         return tostring(value)
      elseif open[value] then
         return '<cycle>'
      elseif next(value) == nil then
         return '{' .. newline .. (newline == '' and '' or indentation) .. '}'
      end
      open[value] = true
      local inner = indentation .. space
      local entries = {}
      local listed = 0
      if not plain then
         for i, element in ipairs(value) do
            entries[i] = inner .. write(element, inner)
            listed = i
         end
      end
      for _, key in ipairs(sorted(value)) do
         if not (type(key) == 'number' and key >= 1 and key <= listed and key % 1 == 0) then
            local name = identifier(key) and key or '[' .. write(key, inner) .. ']'
            entries[#entries + 1] = inner .. name .. equals .. write(value[key], inner)
         end
      end
      open[value] = nil
      return '{' .. newline .. table.concat(entries, separator) .. newline .. indentation .. '}'
   end
   return write(object, '')
end

-- Print a table, or write it to a file.
function pretty.dump(object, name)
   if name then
      return utils.writefile(name, pretty.write(object))
   end
   print(pretty.write(object))
   return true
end

function pretty.debug(...)
   local n = select('#', ...)
   local arguments = {...}
   for i = 1, n do
      arguments[i] = pretty.write(arguments[i], '')
   end
   print(table.concat(arguments, ' '))
end

-- Run source in an environment, strings being plain values: no ('x'):rep(1e9).
local function run(source, environment)
   local chunk, message = load(source, 'tbl', 't', environment)
   if not chunk then
      return nil, message
   end
   local metatable = debug.getmetatable('')
   local methods = metatable.__index
   metatable.__index = nil
   local ok, value = pcall(chunk)
   metatable.__index = methods
   if not ok then
      return nil, value
   end
   return true, value
end

-- The source without what is in strings and comments; the words of the language are looked for in that.
local function bare(source)
   return (source:gsub('%-%-%[%[.-%]%]', ''):gsub('%-%-[^\n]*', ''):gsub('\\.', ''):gsub('"[^"]*"', '""')
      :gsub("'[^']*'", "''"))
end

local function has(code, word)
   return (' ' .. code .. ' '):find('[^%w_]' .. word .. '[^%w_]') ~= nil
end

-- The globals that a chunk sets, as a table; with `paranoid` it may have no loops and no functions.
function pretty.load(source, environment, paranoid)
   environment = environment or {}
   if paranoid then
      for _, word in ipairs{'function', 'for', 'while', 'repeat', 'goto'} do
         if has(bare(source), word) then
            return nil, 'looping not allowed'
         end
      end
   end
   local ok, message = run(source, environment)
   if not ok then
      return nil, message
   end
   return environment
end

-- The table that source describes; nil and what is wrong with it.
function pretty.read(source)
   utils.assert_string(1, source)
   if source:find('^%s*%-%-') then
      source = source:gsub('%-%-.-\n', '')
   end
   if not source:find('^%s*{') then
      return nil, 'not a Lua table'
   elseif has(bare(source), 'function') then
      return nil, 'cannot have functions in table definition'
   end
   local ok, value = run('return ' .. source, {})
   if not ok then
      return nil, value
   end
   return value
end

local function round(number, precision)
   return ('%.' .. precision .. 'f'):format(number)
end

-- A number for people: kind 'M' memory (KiB ...), 'N' amounts (K, M, B), 'T' with commas.
function pretty.number(number, kind, precision)
   precision = precision or 1
   kind = kind or 'N'
   if kind == 'T' then
      local whole = ('%d'):format(number):reverse():gsub('(%d%d%d)', '%1,'):reverse():gsub('^(%-?),', '%1')
      return whole
   end
   local units = kind == 'M' and {'B', 'KiB', 'MiB', 'GiB', 'TiB'} or {'', 'K', 'M', 'B', 'T'}
   local step = kind == 'M' and 1024 or 1000
   local i = 1
   while number >= step and i < #units do
      number, i = number / step, i + 1
   end
   if i == 1 then
      return tostring(number) .. units[1]
   end
   return round(number, precision) .. units[i]
end

return setmetatable(pretty, {__call = function(_, ...) return pretty.debug(...) end})
