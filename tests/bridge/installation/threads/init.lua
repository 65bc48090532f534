-- Jobs in states of their own, which know where packages are by the environment alone.
local ffi = require 'ffi'
local th = require 'torch.th'

local threads = {}

-- What code returns that a new state runs, or its error, as text.
function threads.run(code)
   local said = ffi.new('char[4096]')
   assert(th.C.th_run(code, said, 4096) == 0)
   return ffi.string(said)
end

return threads
