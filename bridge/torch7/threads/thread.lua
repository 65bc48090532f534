-- threads.Thread: one thread that runs a chunk of Lua, given as text, in a Lua state of its own.
local torch = require 'torch'
local native = require 'bridge.native'

local home = {}
local Thread = torch.class('threads.Thread', home)

local SLICE = 0.1 -- seconds of waiting between two looks for Ctrl-C

function Thread:__init(code)
   if type(code) ~= 'string' then
      error('Thread: string of code expected, got ' .. torch.type(code), 3)
   end
   self.thread = native.start_thread(code, package.path, package.cpath, native.allow_functions or false, native.leave)
end

-- Has it ended? Waits up to so many seconds for it.
function Thread:ended(seconds)
   return self.thread == nil or native.join_thread(self.thread, seconds or 0)
end

-- Wait until it has.
function Thread:free()
   while not self:ended(SLICE) do -- luacheck: ignore 542
   end
   self.thread = nil
end

-- A number that no other thread of this state has.
function Thread:id()
   return torch.pointer(self)
end

function Thread:__tostring__()
   return string.format('threads.Thread <%x>', self:id())
end

return home.Thread
