-- A file in which node 1 tells the others where it is.
local ffi = require 'ffi'
local native = require 'bridge.native'
local posix = require 'paths.posix'
local transfer = require 'ipc.transfer'

ffi.cdef[[
unsigned int getuid(void);
int getpid(void);
int getppid(void);
int ipc_mkstemp(char *name) __asm__("mkstemp");
]]

local PATIENCE = 300 -- seconds in which node 1 may come up
local PAUSE = 0.02

local meeting = {}

-- Seen by the others as a whole or not at all; written to a new file, since anybody may have laid a link into /tmp.
function meeting.publish(path, host, port)
   local name = path .. '.XXXXXX'
   local template = ffi.new('char[?]', #name + 1, name)
   local descriptor = ffi.C.ipc_mkstemp(template)
   if descriptor < 0 then
      error(string.format('cannot make a file beside %s: %s', path, posix.message(ffi.errno())), 0)
   end
   native.C.br_net_close(descriptor)
   local temporary = ffi.string(template)
   local file = assert(io.open(temporary, 'w'))
   file:write(host, ':', string.format('%d', port), '\n')
   file:close()
   local renamed, message = os.rename(temporary, path)
   if not renamed then
      os.remove(temporary)
      error(message, 0)
   end
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
