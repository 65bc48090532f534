-- The xlua package: a progress bar, arguments by name, printing, and what it adds to string and table.
local sys = require 'sys'

local xlua = {}
_G.xlua = xlua
package.loaded.xlua = xlua

require('xlua.strings')()
require('xlua.tables')(xlua)
require('xlua.show')(xlua)
require('xlua.namespace')(xlua)
require('xlua.progress')(xlua)
require('xlua.usage')(xlua)
require('xlua.unpack')(xlua)
xlua.OptionParser = require 'xlua.OptionParser'
xlua.Profiler = require 'xlua.Profiler'

-- An error in red, after '<domain> ' and before a line of usage if there are such.
function xlua.error(message, domain, usage)
   message = tostring(message)
   if domain then
      message = '<' .. domain .. '> ' .. message
   end
   message = sys.COLORS.Red .. message .. sys.COLORS.none
   error(usage and message .. '\n' .. tostring(usage) or message, 2)
end

function xlua.trycatch(try, catch)
   local ok, message = pcall(try)
   if not ok then
      catch(message)
   end
end

-- The values of `default`, each replaced by the environment variable of that name if there is one.
function xlua.envparams(default)
   local parameters = {}
   local truths = {['true'] = true, True = true, ['false'] = false, False = false}
   for name, value in pairs(default) do
      local given = os.getenv(name)
      if given and type(value) == 'number' then
         value = tonumber(given) or error(string.format(
            'the environment variable %s must be a number, got %q', name, given), 2)
      elseif given and type(value) == 'boolean' and truths[given] ~= nil then
         value = truths[given]
      elseif given then
         value = given
      end
      parameters[name] = value
   end
   return parameters
end

rawset(_G, 'xprint', xlua.print)
rawset(_G, 'xerror', xlua.error)
rawset(_G, 'xrequire', xlua.require)

return xlua
