-- Optimizers, initializers and compression as a server's options: a text ('adagrad:lr=0.1') or a table
-- ({'adagrad', lr = 0.1}).
local errors = require 'luaps.errors'

local namedsettings = {}

-- The settings of a table as text: 'lr=0.1,maximize=1'.
function namedsettings.written(settings)
   local parts = {}
   for name, value in pairs(settings) do
      if type(name) == 'string' then
         if type(value) == 'boolean' then
            value = value and 1 or 0
         elseif type(value) ~= 'number' then
            errors.raise('%s must be a number, got %s', name, errors.shown(value))
         end
         parts[#parts + 1] = string.format('%s=%.17g', name, value)
      end
   end
   table.sort(parts)
   return table.concat(parts, ',')
end

-- The text of what a program gives for the option `what`; an empty text for false.
function namedsettings.text(given, what, example)
   if not given then
      return ''
   elseif type(given) == 'table' and type(given[1]) == 'string' then
      return given[1] .. ':' .. namedsettings.written(given)
   elseif type(given) ~= 'string' then
      errors.raise('%s must be %s, got %s', what, example, errors.shown(given))
   end
   return given
end

return namedsettings
