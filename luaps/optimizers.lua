-- The optimizer of a server: as a text ('adagrad:lr=0.1') or a table ({'adagrad', lr = 0.1}), and its settings.
local ffi = require 'ffi'
local C = require 'luaps.library'
local errors = require 'luaps.errors'

local check = errors.check
local TEXT_BYTES = 512

local optimizers = {}

-- The settings of a table as text: 'lr=0.1,maximize=1'.
local function written(settings)
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

-- The text of what a program gives for an optimizer; an empty text for false.
function optimizers.text(given)
   if not given then
      return ''
   elseif type(given) == 'table' and type(given[1]) == 'string' then
      return given[1] .. ':' .. written(given)
   elseif type(given) ~= 'string' then
      errors.raise("optimizer must be a text like 'adagrad:lr=0.1' or a table like {'adagrad', lr = 0.1}, got %s",
         errors.shown(given))
   end
   return given
end

-- The optimizer of a node with all of its settings as they are now; nil if pushes add.
function optimizers.read(handle)
   local text = ffi.new('char[?]', TEXT_BYTES)
   check(C.ps_node_get_optimizer(handle, text, TEXT_BYTES))
   local found = ffi.string(text)
   return found ~= '' and found or nil
end

-- Change settings, given as 'lr=0.05' or {lr = 0.05}.
function optimizers.tune(handle, settings)
   if type(settings) == 'table' then
      settings = written(settings)
   elseif type(settings) ~= 'string' then
      errors.raise("settings must be a text like 'lr=0.05' or a table like {lr = 0.05}, got %s", errors.shown(settings))
   end
   check(C.ps_node_tune(handle, settings))
end

return optimizers
