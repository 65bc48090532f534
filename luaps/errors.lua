-- Errors: Lua errors whose message begins with `luaps: ` and which name the line of the calling program.
local ffi = require 'ffi'
local C = require 'luaps.library'

local errors = {}

local OURS = debug.getinfo(1, 'S').source:match('^(.*)errors%.lua$')

-- Raise an error that points at the nearest caller outside this package.
function errors.raise(form, ...)
   local level = 2
   while true do
      local info = debug.getinfo(level, 'S')
      if not info or info.source:sub(1, #OURS) ~= OURS then
         break
      end
      level = level + 1
   end
   error('luaps: ' .. (select('#', ...) > 0 and form:format(...) or form), level)
end

-- The text for a value in a message.
function errors.shown(value)
   local kind = type(value)
   if kind == 'number' then
      return string.format('%.17g', value)
   elseif kind == 'string' then
      return "'" .. (#value <= 60 and value or value:sub(1, 57) .. '...') .. "'"
   elseif kind == 'userdata' or kind == 'table' then
      local metatable = getmetatable(value)
      local name = type(metatable) == 'table' and rawget(metatable, '__typename')
      return type(name) == 'string' and name or kind
   elseif kind == 'cdata' then
      return tostring(ffi.typeof(value)):match('^ctype<(.*)>$')
   end
   return tostring(value)
end

-- Raise the error for a code of ps.h. Keys in the message are numbered from `base`, as in the calling program.
function errors.fail(code, base)
   local last = C.ps_last_error()
   local message = ffi.string(last.message)
   if code == C.PS_EKEY and last.limit == 0 then
      message = message:gsub(' at position %d+', ' at position ' .. tonumber(last.position) + 1, 1)
   elseif code == C.PS_EKEY and base then
      local key = tostring(last.value + base):gsub('LL$', '')
      message = string.format('key %s at position %d is out of range: the server has keys %d to %d', key,
         tonumber(last.position) + 1, base, tonumber(last.limit) - 1 + base)
   end
   errors.raise('%s (%s)', message, ffi.string(C.ps_code_name(code)))
end

-- Raise the error for a code of ps.h unless it means success.
function errors.check(code, base, ...) -- luacheck: ignore 212
   if code ~= 0 then
      errors.fail(code, base)
   end
end

return errors
