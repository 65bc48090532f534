-- tds.AtomicCounter: a whole number that several threads may count at once.
local C = require 'tds.C'
local ctype = require 'tds.ctype'

local counter = {}
local methods = {}

function counter:__index(name) -- luacheck: ignore 212
   return rawget(methods, name) or error('no such method', 2)
end

local function number(name, value)
   local found = tonumber(value)
   if not found then
      error(string.format('%s: number expected, got %s', name, type(value)), 3)
   end
   return found
end

-- Add one, or `step`; the count before.
function methods:inc(step)
   return tonumber(C.tds_atomic_add(self, step == nil and 1 or number('inc', step)))
end

function methods:incBy(step)
   return tonumber(C.tds_atomic_add(self, number('incBy', step)))
end

function methods:get()
   return tonumber(C.tds_atomic_get(self))
end

function methods:set(value)
   C.tds_atomic_set(self, number('set', value))
end

function counter:__tostring()
   return 'tds.AtomicCounter=' .. self:get()
end

function counter:write(file)
   file:writeLong(self:get())
end

function counter:read(file)
   self:set(file:readLong())
end

return (ctype('tds.AtomicCounter', 'tds_atomic_counter', 'tds_atomic', counter))
