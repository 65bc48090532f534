-- The time in seconds, to compute what is left of a timeout. Changes of the system time do not affect this clock.
local ffi = require 'ffi'

ffi.cdef [[int luaps_clock_gettime(int clock, void *seconds_and_nanoseconds) __asm__("clock_gettime");]]

local MONOTONIC = 1
local time = ffi.typeof('long[2]')

return function()
   local now = time()
   ffi.C.luaps_clock_gettime(MONOTONIC, now)
   return tonumber(now[0]) + tonumber(now[1]) * 1e-9
end
