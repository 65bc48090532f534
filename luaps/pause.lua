-- Sleep for so many milliseconds, between two looks at what another process writes.
local ffi = require 'ffi'

ffi.cdef [[int luaps_poll(void *files, unsigned long count, int milliseconds) __asm__("poll");]]

return function(milliseconds)
   ffi.C.luaps_poll(nil, 0, milliseconds)
end
