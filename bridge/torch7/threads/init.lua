-- threads: pools of threads with a Lua state each, and what they are made of. The package itself stands for its pools:
-- `threads(4)`, `threads.serialization(name)`.
local Threads = require 'threads.threads'

local threads = {
   Threads = Threads,
   Thread = require 'threads.thread',
   Mutex = require 'threads.mutex',
   Condition = require 'threads.condition',
   safe = require 'threads.safe',
}

return setmetatable(threads, {
   __index = Threads,
   __call = function(_, ...)
      return Threads(...)
   end
})
