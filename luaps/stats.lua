-- Statistics: turns a struct of counters in ps.h into a table of numbers, with the names of the header.
local ffi = require 'ffi'
local ANCHOR = 'luaps.declarations' -- the key in the registry under which luaps.library keeps the text of the header

local stats = {}

-- The field names of a struct, in their order.
local function fields(struct)
   local text = debug.getregistry()[ANCHOR]
   local body = text:match('typedef struct ' .. struct .. ' {(.-)}'):gsub('/%*.-%*/', '')
   local names = {}
   for list in body:gmatch('%f[%w]%l[%w_]* ([%w_, ]+);') do
      for name in list:gmatch('[%w_]+') do
         names[#names + 1] = name
      end
   end
   return names
end

-- Returns a function that turns such a struct into a table.
function stats.reader(struct)
   local names = fields(struct)
   return function(values)
      local read = {}
      for _, name in ipairs(names) do
         read[name] = tonumber(values[name])
      end
      return read
   end, ffi.typeof(struct)
end

return stats
