-- torch.Timer: wall-clock time and the processor time of this process; torch.tic and torch.toc: two readings of the
-- wall clock.
local ffi = require 'ffi'
local class = require 'torch.class'

-- Under names of our own: a program may declare the same functions with its own structs.
ffi.cdef[[
typedef struct { int64_t seconds, nanoseconds; } br_timespec;
typedef struct { int64_t seconds, microseconds; } br_timeval;
typedef struct { br_timeval user, system; long others[14]; } br_rusage;
int br_clock_gettime(int clock, br_timespec *now) __asm__("clock_gettime");
int br_getrusage(int who, br_rusage *usage) __asm__("getrusage");
]]
local MONOTONIC = 1
local clib = ffi.C
local moment, usage = ffi.new('br_timespec'), ffi.new('br_rusage')

local function wall()
   clib.br_clock_gettime(MONOTONIC, moment)
   return tonumber(moment.seconds) + tonumber(moment.nanoseconds) * 1e-9
end

-- Every field of time() as of now.
local function now()
   clib.br_getrusage(0, usage)
   return {
      real = wall(),
      user = tonumber(usage.user.seconds) + tonumber(usage.user.microseconds) * 1e-6,
      sys = tonumber(usage.system.seconds) + tonumber(usage.system.microseconds) * 1e-6,
   }
end

-- A timer is a userdata, as in Torch7; its state stands beside it.
local template = newproxy(true)
local metatable = getmetatable(template)
local states = setmetatable({}, {__mode = 'k'}) -- timer -> {running, from, total}

local function zero()
   return {real = 0, user = 0, sys = 0}
end

local function check(name, self)
   local state = states[self]
   if not state then
      error(string.format("bad argument #1 to '%s' (torch.Timer expected, got %s)", name,
         class.name(getmetatable(self)) or type(self)), 3)
   end
   return state
end

-- What a timer has counted until now.
local function counted(state)
   if not state.running then
      return state.total
   end
   local at, sum = now(), {}
   for field, total in pairs(state.total) do
      sum[field] = total + at[field] - state.from[field]
   end
   return sum
end

local function new()
   local timer = newproxy(template)
   states[timer] = {running = true, from = now(), total = zero()}
   return timer
end

local methods = {}

function methods:time()
   local sum = counted(check('time', self))
   return {real = sum.real, user = sum.user, sys = sum.sys}
end

function methods:stop()
   local state = check('stop', self)
   state.total, state.running = counted(state), false
   return self
end

function methods:resume()
   local state = check('resume', self)
   if not state.running then
      state.from, state.running = now(), true
   end
   return self
end

-- Back to zero; a timer that runs goes on, one that stands stays.
function methods:reset()
   local state = check('reset', self)
   state.from, state.total = now(), zero()
   return self
end

function methods:__tostring__()
   return string.format('torch.Timer [status: %s]', check('tostring', self).running and 'running' or 'stopped')
end

return function(torch)
   for name, method in pairs(methods) do
      metatable[name] = method
   end
   metatable.new = new
   function metatable.__newindex()
      error('the class torch.Timer cannot be indexed', 2)
   end
   function metatable.__gc(timer)
      states[timer] = nil
   end
   class.adopt('torch.Timer', metatable, new)

   function torch.tic()
      return wall()
   end

   function torch.toc(began)
      if type(began) ~= 'number' then
         error("bad argument #1 to 'toc' (number expected, got " .. (began == nil and 'no value' or type(began)) .. ')',
            2)
      end
      return wall() - began
   end
end
