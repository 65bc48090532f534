-- What the other modules of Penlight stand on: arguments, functions written as strings, splitting, whole files.
local compat = require 'pl.compat'
local operator = require 'pl.operator'
local types = require 'pl.types'

local utils = {_VERSION = '1.13.1', pack = function(...) return {n = select('#', ...), ...} end, stdmt = {
   List = {_name = 'List'}, Map = {_name = 'Map'}, Set = {_name = 'Set'}, MultiMap = {_name = 'MultiMap'},
}}

for name, value in pairs(compat) do
   utils[name] = value
end
utils.is_type = types.is_type

utils.patterns = {
   FLOAT = '[%+%-%d]%d*%.?%d*[eE]?[%+%-]?%d*', INTEGER = '[+%-%d]%d*', IDEN = '[%a_][%w_]*',
   FILE = '[%a%.\\][:%][%w%._%-\\]*',
}

-- Only the first n values, nils too.
function utils.unpack(list, first, last)
   return unpack(list, first or 1, last or list.n or #list)
end

function utils.printf(format, ...)
   utils.fprintf(io.stdout, format, ...)
end

function utils.fprintf(file, format, ...)
   utils.assert_string(2, format)
   file:write(format:format(...))
end

function utils.choose(condition, yes, no)
   return condition and yes or not condition and no
end

-- ---- errors

local mode = 'default'

-- What `raise` does: 'default' returns nil and the message, 'error' raises it, 'quit' ends the program with it.
function utils.on_error(what)
   if what ~= 'default' and what ~= 'error' and what ~= 'quit' then
      error("Bad argument expected string; 'default', 'quit', or 'error'. Got '" .. tostring(what) .. "'", 2)
   end
   mode = what
end

function utils.raise(message)
   if mode == 'default' then
      return nil, message
   elseif mode == 'quit' then
      utils.quit(message)
   end
   error(message, 2)
end

-- End the program, with a code (-1, or a number that comes first) and a message on standard error.
function utils.quit(code, message, ...)
   if type(code) == 'string' then
      code, message = -1, code:format(message, ...)
   elseif message then
      message = message:format(...)
   end
   if message then
      io.stderr:write(message, '\n')
   end
   os.exit(code, true)
end

function utils.assert_arg(index, value, kind, verify, message, level)
   if type(value) ~= kind then
      error(("argument %d expected a '%s', got a '%s'"):format(index, kind, type(value)), level or 2)
   elseif verify and not verify(value) then
      error(("argument %d: '%s' %s"):format(index, tostring(value), message), level or 2)
   end
   return value
end

function utils.assert_string(index, value)
   return utils.assert_arg(index, value, 'string', nil, nil, 3)
end

-- ---- functions

local factories = {}

-- Let objects with this metatable stand for functions: `make(object)` gives the function.
function utils.add_function_factory(metatable, make)
   factories[metatable] = make
end

function utils.memoize(f)
   local known = {}
   return function(key)
      local value = known[key]
      if value == nil then
         value = f(key)
         known[key] = value
      end
      return value
   end
end

-- A function from '|x,y| x+y', or from an expression in _.
utils.string_lambda = utils.memoize(function(text)
   local arguments, body = text:match('^%s*|%s*(.-)%s*|(.+)')
   if not arguments then
      arguments, body = '_', text
   end
   local chunk, message = loadstring('return function(' .. arguments .. ') return ' .. body .. ' end', 'fun')
   if not chunk then
      error('not a function: ' .. text .. ' (' .. message .. ')', 2)
   end
   return chunk()
end)

-- What may stand for a function: a function, an operator's sign, a string lambda, something callable.
function utils.function_arg(index, f, message)
   utils.assert_arg(1, index, 'number')
   if type(f) == 'function' then
      return f
   elseif type(f) == 'string' then
      if operator.optable[f] then
         return operator.optable[f]
      elseif f:find('^%s*|') or f:find('_') then
         return utils.string_lambda(f)
      end
   elseif factories[getmetatable(f)] then
      return factories[getmetatable(f)](f)
   elseif types.is_callable(f) then
      return function(...) return f(...) end
   end
   error(('argument %d:  %s'):format(index, message or 'must be callable'), 3)
end

function utils.bind1(f, first)
   f = utils.function_arg(1, f)
   return function(...) return f(first, ...) end
end

function utils.bind2(f, second)
   f = utils.function_arg(1, f)
   return function(first, ...) return f(first, second, ...) end
end

-- ---- strings

-- A text with the characters that mean something in patterns made plain.
function utils.escape(text)
   utils.assert_string(1, text)
   return (text:gsub('[%-%.%+%[%]%(%)%$%^%%%?%*]', '%%%1'):gsub('%z', '%%z'))
end

-- The parts of a text between separators (white space), at most n; an empty last part is left out.
function utils.split(text, separator, plain, n)
   utils.assert_string(1, text)
   local parts, from = {}, 1
   if not separator then
      separator = '%s+'
   end
   if separator == '' then
      return {text}
   end
   while true do
      local first, last = text:find(separator, from, plain)
      if not first or n and #parts == n - 1 then
         local rest = text:sub(from)
         if rest ~= '' then
            parts[#parts + 1] = rest
         end
         return parts
      end
      if last < first then
         error('the separator ' .. separator .. ' matches the empty string', 2)
      end
      parts[#parts + 1] = text:sub(from, first - 1)
      from = last + 1
   end
end

function utils.splitv(text, separator, plain, n)
   return unpack(utils.split(text, separator, plain, n))
end

function utils.array_tostring(list, into, text)
   into, text = into or {}, text or tostring
   for i = 1, #list do
      into[i] = text(list[i], i)
   end
   return into
end

-- An argument as a shell reads it; of a list, all of them.
function utils.quote_arg(argument)
   if type(argument) == 'table' then
      local quoted = {}
      for i, one in ipairs(argument) do
         quoted[i] = utils.quote_arg(one)
      end
      return table.concat(quoted, ' ')
   elseif argument == '' or argument:find('[^a-zA-Z0-9_@%+=:,./-]') then
      return "'" .. argument:gsub("'", "'\\''") .. "'"
   end
   return argument
end

-- ---- tables

-- The pairs of a table whose keys are not positive integers.
function utils.kpairs(object)
   local key, value
   return function()
      repeat
         key, value = next(object, key)
      until type(key) ~= 'number' or key < 1 or key % 1 ~= 0
      return key, value
   end
end

-- The elements from first (1) to last (n or #), nils too.
function utils.npairs(list, first, last, step)
   step = step or 1
   local i = (first or 1) - step
   last = last or list.n or #list
   return function()
      i = i + step
      if step > 0 and i <= last or step < 0 and i >= last then
         return i, list[i]
      end
   end
end

-- Make the fields of a table, or of a module by its name, globals (or fields of `into`).
function utils.import(from, into)
   into = into or _G
   from = from or utils
   if type(from) == 'string' then
      from = require(from)
   end
   for key, value in pairs(from) do
      rawset(into, key, value)
   end
end

-- ---- files and commands

function utils.readfile(name, binary)
   utils.assert_string(1, name)
   local file, message = io.open(name, binary and 'rb' or 'r')
   if not file then
      return utils.raise(message)
   end
   local text
   text, message = file:read('*a')
   file:close()
   if not text then -- a directory opens, but cannot be read
      return utils.raise(name .. ': ' .. tostring(message))
   end
   return text
end

function utils.writefile(name, text, binary)
   utils.assert_string(1, name)
   utils.assert_string(2, text)
   local file, message = io.open(name, binary and 'wb' or 'w')
   if not file then
      return utils.raise(message)
   end
   local ok
   ok, message = file:write(text)
   file:close()
   if not ok then
      return utils.raise(name .. ': ' .. tostring(message))
   end
   return true
end

function utils.readlines(name)
   local file, message = io.open(name, 'r')
   if not file then
      return utils.raise(message)
   end
   local lines = {}
   for line in file:lines() do
      lines[#lines + 1] = line
   end
   file:close()
   return lines
end

-- Run a command: did it end well, its exit code, what it printed, its errors.
function utils.executeex(command)
   local out, err = os.tmpname(), os.tmpname()
   local redirected = '( ' .. command .. '\n) > ' .. utils.quote_arg(out) .. ' 2> ' .. utils.quote_arg(err)
   local ok, code = compat.execute(redirected)
   local printed, errors = utils.readfile(out), utils.readfile(err)
   os.remove(out)
   os.remove(err)
   return ok, code, printed or '', errors or ''
end

return utils
