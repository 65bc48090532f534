-- Checks of arguments, with the messages of Lua's own C functions.
local arguments = {}

-- A string (a number is one too), or an error at the caller of the function named `name`.
function arguments.text(index, name, value, missing)
   if type(value) == 'string' then
      return value
   elseif type(value) == 'number' then
      return tostring(value)
   end
   error(string.format("bad argument #%d to '%s' (string expected, got %s)", index, name,
      value == nil and missing and 'no value' or type(value)), 3)
end

return arguments
