-- This process and its children, as far as programs ask for them.
local ffi = require 'ffi'
local transfer = require 'ipc.transfer'
local posix = require 'paths.posix'
require 'ipc.meeting' -- declares getpid and getppid
require 'ipc.spawn' -- and ipc_waitpid

ffi.cdef[[
unsigned long pthread_self(void);
]]

local C = ffi.C
local NOHANG = 1 -- WNOHANG

local process = {}

function process.getpid()
   return C.getpid()
end

function process.getppid()
   return C.getppid()
end

-- A number that no other thread of this process has.
function process.gettid()
   return tonumber(C.pthread_self())
end

-- Wait for a child to end: its exit code, nothing if a signal has ended it.
function process.waitpid(id)
   local status = ffi.new('int[1]')
   while true do
      local rc = C.ipc_waitpid(id, status, NOHANG)
      if rc < 0 then
         error(string.format('waitpid: process %s: %s', tostring(id), posix.message(ffi.errno())), 2)
      elseif rc > 0 then
         break
      end
      transfer.pause(0.01)
   end
   if bit.band(status[0], 0x7f) == 0 then
      return bit.band(bit.rshift(status[0], 8), 0xff)
   end
end

-- nil on Linux, as there.
function process.isOSX()
   return ffi.os == 'OSX' or nil
end

return process
