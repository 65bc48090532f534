-- Statistics: a struct of counters in ps.h as a table of numbers, by the names that the header gives them.
local ffi = require 'ffi'
local ANCHOR = 'luaps.declarations' -- where luaps.library keeps the text of the header

local stats = {}

-- The names of a struct's numbers, in their order.
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

-- A function that reads such a struct.
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
