-- threads.Mutex: known in every thread by its id, alive until it was freed as often as it was made or looked up.
local torch = require 'torch'
local native = require 'bridge.native'
local wait = require 'threads.wait'

local C = native.C
local home = {}
local Mutex = torch.class('threads.Mutex', home)

local function pointer(self)
   return self.pointer or error('this mutex was freed', 3)
end

-- A new mutex, or the one that `id` stands for.
function Mutex:__init(id)
   if id ~= nil and type(id) ~= 'number' then
      error('Mutex: number expected, got ' .. torch.type(id), 3)
   end
   local found = id and C.br_mutex_find(id) or C.br_mutex_new()
   if found == nil then
      error(id and string.format('there is no mutex with the id %s', id) or 'not enough memory', 3)
   end
   self.pointer = found
end

function Mutex:lock()
   local mutex = pointer(self)
   local rc
   repeat
      rc = C.br_mutex_lock(mutex, wait.slice)
   until not wait.again(rc)
   if rc == C.BR_CLOSED then
      wait.ended()
   end
end

function Mutex:unlock()
   if C.br_mutex_unlock(pointer(self)) ~= 0 then
      error('this mutex is not locked', 2)
   end
end

function Mutex:id()
   return C.br_mutex_id(pointer(self))
end

function Mutex:free()
   C.br_mutex_release(pointer(self))
   self.pointer = nil
end

-- Unlock and free; then what a pcall came to, its error raised.
function Mutex:release(ok, ...)
   self:unlock()
   self:free()
   if not ok then
      error((...), 0)
   end
   return ...
end

function Mutex:__tostring__()
   return self.pointer and string.format('threads.Mutex <%x>', self:id()) or 'threads.Mutex'
end

return home.Mutex
