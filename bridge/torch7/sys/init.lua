-- The sys package: clocks, sleeping, commands.
local ffi = require 'ffi'

ffi.cdef[[
typedef struct { long seconds, microseconds; } sys_timeval;
int gettimeofday(sys_timeval *now, void *zone);
int usleep(unsigned int microseconds);
]]
local clib = ffi.C
local now = ffi.new('sys_timeval')

local sys = {}
_G.sys = sys
package.loaded.sys = sys

-- Seconds since 1970, to the microsecond.
function sys.clock()
   clib.gettimeofday(now, nil)
   return tonumber(now.seconds) + tonumber(now.microseconds) * 1e-6
end

local started = sys.clock()

function sys.tic()
   started = sys.clock()
end

-- Seconds since the last tic; printed too when `verbose`.
function sys.toc(verbose)
   local elapsed = sys.clock() - started
   if verbose then
      print(elapsed)
   end
   return elapsed
end

function sys.usleep(microseconds)
   while microseconds > 0 do
      clib.usleep(math.min(microseconds, 500000))
      microseconds = microseconds - 500000
   end
end

function sys.sleep(seconds)
   sys.usleep(seconds * 1e6)
end

-- What a command prints, without the newline at its end.
function sys.execute(command)
   local pipe = assert(io.popen(command .. ' 2>&1'))
   local output = pipe:read('*a')
   pipe:close()
   return (output:gsub('\n$', ''))
end

function sys.isNaN(number)
   return number ~= number
end

return sys
