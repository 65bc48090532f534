-- The dok package: arguments by name or by position, their help, and help for functions: `dok.inline[f]` is the text
-- that `help(f)` prints.
local xlua = require 'xlua'
local sys = require 'sys'

dok = dok or {}
package.loaded.dok = dok

dok.inline = {}
dok.colors = sys.COLORS

local BANNER = ('+'):rep(69)
local LIMIT = 64 -- arguments of one function

local coloured = true

function dok.usecolors()
   coloured = true
end

function dok.dontusecolors()
   coloured = false
end

local function styled(text)
   return coloured and text or (text:gsub('\27%[[%d;]*m', ''))
end

-- The value that a name such as 'nn.Linear:forward' stands for; nil if there is none.
local function symbol(name)
   local place = _G
   for part in name:gmatch('[^.:]+') do
      local ok, found = pcall(function() return place[part] end)
      if not ok or found == nil then
         return nil
      end
      place = found
   end
   return place
end

-- Print what is known of a function (or its name); with `astext`, answer it.
function dok.help(object, astext)
   if object == nil or object == false then
      print(BANNER)
      print(styled(sys.COLORS.Magenta .. 'help(symbol)' .. sys.COLORS.none)
         .. '\n\nthe help of a function or package\n')
      print(BANNER)
      return
   elseif type(object) == 'string' then
      object = symbol(object)
   end
   local text = object ~= nil and dok.inline[object] or nil
   if astext then
      return text
   elseif text then
      print(BANNER)
      print(text)
      print(BANNER)
   else
      print('undocumented symbol')
   end
end

-- As xlua.usage; the function's help, where there is some, stands in place of its name and description.
function dok.usage(name, description, example, ...)
   local text = xlua.usage(name, description, example, ...)
   local known = symbol(name)
   local help = known ~= nil and dok.inline[known]
   if help then
      local _, last = text:find('\n' .. sys.COLORS.blue .. '> ' .. sys.COLORS.none .. 'usage:\n', 1, true)
      text = help .. '\n' .. sys.COLORS.blue .. '> ' .. sys.COLORS.none .. 'usage:\n' .. text:sub(last + 1)
   end
   return styled(text)
end

local function named(arguments)
   local only = arguments[1]
   return #arguments == 1 and type(only) == 'table' and #only == 0
      and not (package.loaded.torch and package.loaded.torch.typename(only))
end

-- A table with the arguments by name and by number, then each of them in order. `...` defines them: {arg=, type=,
-- help=, req=, default=, defaulta=}. What is missing is an error, after the usage is printed.
function dok.unpack(arguments, name, description, ...)
   local definitions = {...}
   local usage = setmetatable({}, {__tostring = function()
      local first, second = definitions[1], definitions[2]
      local example = second and string.format('%s{%s=%s, %s=%s}\n%s(%s, ...)', name, second.arg, second.type,
         first.arg, first.type, name, first.type)
      return dok.usage(name, description, example, {tabled = definitions})
   end})
   if arguments.__printhelp then
      print(usage)
      error('error')
   elseif #definitions > LIMIT then
      error('<dok.unpack> oups, cant deal with more than 64 arguments :-)')
   end
   local given = {}
   if named(arguments) then
      given = arguments[1]
   else
      for i, definition in ipairs(definitions) do
         given[definition.arg] = arguments[i]
      end
   end
   local values = {}
   for i, definition in ipairs(definitions) do
      local value = given[definition.arg]
      if value == nil and definition.req then
         print(styled(sys.COLORS.Red .. 'missing argument: ' .. definition.arg .. sys.COLORS.none))
         print(usage)
         error('error')
      end
      if value == nil then
         value = definition.default
      end
      if value == nil and definition.defaulta then
         value = values[definition.defaulta]
      end
      values[definition.arg] = value
      values[i] = value
   end
   values.usage = usage
   return values, unpack(values, 1, #definitions)
end

-- An error in red, after '<domain> ' if there is one.
function dok.error(message, domain)
   if domain then
      message = '<' .. domain .. '> ' .. message
   end
   error(styled(sys.COLORS.Red .. tostring(message) .. sys.COLORS.none), 2)
end

rawset(_G, 'help', dok.help)

return dok
