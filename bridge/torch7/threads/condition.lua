-- threads.Condition: threads wait on it with a mutex, until another one signals. Known in every thread by its id.
local ffi = require 'ffi'
local torch = require 'torch'
local native = require 'bridge.native'
local wait = require 'threads.wait'

local C = native.C
local home = {}
local Condition = torch.class('threads.Condition', home)

local function pointer(self)
   return self.pointer or error('this condition was freed', 3)
end

-- A new condition, or the one that `id` stands for.
function Condition:__init(id)
   if id ~= nil and type(id) ~= 'number' then
      error('Condition: number expected, got ' .. torch.type(id), 3)
   end
   local found = id and C.br_condition_find(id) or C.br_condition_new()
   if found == nil then
      error(id and string.format('there is no condition with the id %s', id) or 'not enough memory', 3)
   end
   self.pointer = found
end

-- Give up the mutex, which must be locked, until a signal comes; then lock it again.
function Condition:wait(mutex)
   local condition = pointer(self)
   if torch.typename(mutex) ~= 'threads.Mutex' then
      error('wait: threads.Mutex expected, got ' .. torch.type(mutex), 2)
   end
   local waiter = C.br_waiter_new(condition)
   if waiter == nil then
      error('not enough memory')
   end
   waiter = ffi.gc(waiter, C.br_waiter_free)
   mutex:unlock()
   local rc
   repeat
      rc = C.br_waiter_wait(waiter, wait.slice)
   until not wait.again(rc)
   C.br_waiter_free(ffi.gc(waiter, nil))
   if rc == C.BR_CLOSED then
      wait.ended()
   end
   mutex:lock()
end

-- Wake one thread that waits.
function Condition:signal()
   C.br_condition_signal(pointer(self), 0)
end

-- Wake all of them.
function Condition:broadcast()
   C.br_condition_signal(pointer(self), 1)
end

function Condition:id()
   return C.br_condition_id(pointer(self))
end

function Condition:free()
   C.br_condition_release(pointer(self))
   self.pointer = nil
end

function Condition:__tostring__()
   return self.pointer and string.format('threads.Condition <%x>', self:id()) or 'threads.Condition'
end

return home.Condition
