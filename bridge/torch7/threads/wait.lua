-- Waiting for other threads: natively, so that nothing is held meanwhile, and in slices, so that Ctrl-C is heard.
local native = require 'bridge.native'

local C = native.C
local heed = native.heed_signals
local slice = heed and 0.1 or 1e6 -- seconds; a thread that hears no signals is woken when the process ends

local wait = {slice = slice}

-- Between two slices; `rc` is what the last one came to. True: go on waiting.
function wait.again(rc)
   if rc == C.BR_TIMEOUT then
      if heed then
         heed()
      end
      return true
   elseif rc < 0 then
      error('not enough memory')
   end
   return false
end

-- A wait that cannot go on.
function wait.ended()
   error('the process is ending', 3)
end

return wait
