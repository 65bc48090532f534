-- Checks of arguments: tables of named arguments, whole numbers, seconds.
local errors = require 'luaps.errors'

local raise, shown = errors.raise, errors.shown

local arguments = {}

local WHOLE = 2^53

-- Read a table of named arguments. `expected` maps each allowed name to its default value, or to arguments.required.
arguments.required = {}

function arguments.named(call, given, expected, example)
   if type(given) ~= 'table' or getmetatable(given) then
      raise('%s expects a table of named arguments, like %s; got %s', call, example, shown(given))
   end
   for name in pairs(given) do
      if expected[name] == nil then
         local names = {}
         for possible in pairs(expected) do
            names[#names + 1] = possible
         end
         table.sort(names)
         raise('%s has no argument %s; there are: %s', call, shown(name), table.concat(names, ', '))
      end
   end
   local values = {}
   for name, default in pairs(expected) do
      local value = given[name]
      if value == nil and default == arguments.required then
         raise('%s needs %s, as in %s', call, name, example)
      end
      if value == nil then
         value = default
      end
      values[name] = value
   end
   return values
end

-- A string without NULs, as C has them.
function arguments.text(name, value)
   if type(value) ~= 'string' then
      raise('%s must be a string, got %s', name, shown(value))
   elseif value:find('\0', 1, true) then
      raise('%s %s holds a NUL', name, shown((value:gsub('%z', '\\0'))))
   end
   return value
end

-- A whole number within [least, most].
function arguments.whole(name, value, least, most)
   if type(value) == 'cdata' and tonumber(value) then
      value = tonumber(value)
   end
   if type(value) ~= 'number' then
      raise('%s must be a number, got %s', name, shown(value))
   end
   if value % 1 ~= 0 then -- NaN and infinities too
      raise('%s is %s; it must be a whole number', name, shown(value))
   end
   least, most = least or -WHOLE, most or WHOLE
   if value < least or value > most then
      raise('%s is %s; it must be in [%s, %s]', name, shown(value), shown(least), shown(most))
   end
   return value
end

-- Check a number of seconds. nil gives 0, which means "the default" in ps.h.
function arguments.seconds(name, value)
   if value == nil then
      return 0
   end
   if type(value) ~= 'number' or not (value >= 0 and value < math.huge) then
      raise('%s is %s; it must be a number of seconds, or nil for the default', name, shown(value))
   end
   return math.max(value, 1e-9)
end

-- Check `base`, the number by which the program calls the first key.
function arguments.base(value)
   if value ~= 0 and value ~= 1 then
      raise("base is %s; it is 1 to count keys from 1 as Lua does, or 0 to count them as the server does", shown(value))
   end
   return value
end

return arguments
