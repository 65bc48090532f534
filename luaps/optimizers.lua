-- The optimizer of a server and its settings.
local ffi = require 'ffi'
local C = require 'luaps.library'
local errors = require 'luaps.errors'
local namedsettings = require 'luaps.namedsettings'

local check = errors.check
local TEXT_BYTES = 512

local optimizers = {}

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
      settings = namedsettings.written(settings)
   elseif type(settings) ~= 'string' then
      errors.raise("settings must be a text like 'lr=0.05' or a table like {lr = 0.05}, got %s", errors.shown(settings))
   end
   check(C.ps_node_tune(handle, settings))
end

return optimizers
