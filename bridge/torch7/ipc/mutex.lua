-- ipc.mutex(): a lock, and a barrier, for threads that it is given to.
local ffi = require 'ffi'
local torch = require 'torch'
local native = require 'bridge.native'
local sharedserialize = require 'threads.sharedserialize'
local wait = require 'threads.wait'

local C = native.C
local home = {}
local Mutex = torch.class('ipc.mutex', home)

sharedserialize.reference('ipc.mutex', C.br_mutex_release, function(self)
   return C.br_mutex_find(C.br_mutex_id(self.pointer))
end, function(self, pointer)
   pointer = C.br_mutex_find(C.br_mutex_id(ffi.cast('br_mutex *', pointer)))
   self.pointer = ffi.gc(pointer, C.br_mutex_release)
end)

local function finish(rc)
   if rc == C.BR_CLOSED then
      wait.ended()
   end
end

function Mutex:lock()
   local rc
   repeat
      rc = C.br_mutex_lock(self.pointer, wait.slice)
   until not wait.again(rc)
   finish(rc)
end

function Mutex:unlock()
   if C.br_mutex_unlock(self.pointer) ~= 0 then
      error('this mutex is not locked', 2)
   end
end

-- Wait until n threads have come here.
function Mutex:barrier(n)
   if not tonumber(n) or tonumber(n) < 1 then
      error('barrier: a positive number of threads expected, got ' .. tostring(n), 2)
   end
   local ticket = ffi.new('int64_t[1]', -1)
   local rc
   repeat
      rc = C.br_mutex_barrier(self.pointer, tonumber(n), ticket, wait.slice)
   until not wait.again(rc)
   finish(rc)
end

return function()
   local pointer = C.br_mutex_new()
   if pointer == nil then
      error('not enough memory', 2)
   end
   local self = torch.factory('ipc.mutex')()
   self.pointer = ffi.gc(pointer, C.br_mutex_release)
   return self
end
