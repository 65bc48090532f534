-- A file in which node 1 tells the others where it is.
local ffi = require 'ffi'
local posix = require 'paths.posix'
local transfer = require 'ipc.transfer'

ffi.cdef[[
unsigned int getuid(void);
int getpid(void);
int getppid(void);
]]

local PATIENCE = 300 -- seconds in which node 1 may come up
local PAUSE = 0.02

local meeting = {}

-- Seen by the others as a whole or not at all.
function meeting.publish(path, host, port)
   local temporary = string.format('%s.%d', path, ffi.C.getpid())
   local file = assert(io.open(temporary, 'w'))
   file:write(host, ':', string.format('%d', port), '\n')
   file:close()
   assert(os.rename(temporary, path))
end

-- What a file of this user says; nothing while there is none.
local function read(path)
   local status = posix.status(path, true)
   if not status then
      return nil
   elseif status.uid ~= ffi.C.getuid() or posix.kindof(status.mode) ~= 'file' then
      error(string.format('%s is not a file of this user: remove it', path), 0)
   end
   local file = io.open(path)
   local text = file and file:read(300)
   if file then
      file:close()
   end
   local host, port = (text or ''):match('^(.+):(%d+)%s*$')
   return host, tonumber(port)
end

-- Host and port of node 1, once it has published them.
function meeting.query(path)
   local deadline = transfer.clock() + PATIENCE
   while true do
      local host, port = read(path)
      if host then
         return host, port
      elseif transfer.clock() > deadline then
         error(string.format('node 1 has not said where it is within %g seconds: there is no %s', PATIENCE, path), 0)
      end
      transfer.pause(PAUSE)
   end
end

return meeting
