-- Storages that map a file. If the file is made shorter meanwhile, reading or writing what was cut off ends the process
-- (SIGBUS).
local ffi = require 'ffi'
local native = require 'bridge.native'

ffi.cdef[[
int open(const char *name, int flags, ...);
int close(int descriptor);
int ftruncate(int descriptor, int64_t length);
int64_t lseek(int descriptor, int64_t offset, int whence);
char *strerror(int code);
]]

local C = ffi.C
local RDONLY, RDWR, CREAT, CLOEXEC = 0, 2, 64, 0x80000
local END = 2
local SHARED_MEMORY = '/dev/shm/' -- where shm_open has its files

local function refuse(what, name, descriptor)
   local reason = ffi.string(C.strerror(ffi.errno()))
   if descriptor then
      C.close(descriptor)
   end
   error(string.format('%s <%s> (%s)', what, name, reason), 4)
end

-- Make `storage` (a br_storage of elements of `width` bytes) a map of the file `name`.
-- shared: what is written reaches the file, which is made or made longer when there is not enough of it; otherwise
-- writes stay here and the file is only read. size: elements, 0 for what the file holds. memory: `name` is one of
-- shm_open's.
return function(storage, width, name, shared, size, memory)
   if name:find('\0', 1, true) then
      error(string.format('a file name with a zero byte: %q', name), 3)
   elseif size < 0 then
      error(string.format('a storage of %.0f elements: give 0 for what the file holds', size), 3)
   end
   local path = shared and memory and SHARED_MEMORY .. name:gsub('^/+', '') or name
   local mode = shared and RDWR + CREAT or RDONLY
   local descriptor = C.open(path, mode + CLOEXEC, ffi.cast('int', 384)) -- rw-------
   if descriptor < 0 then
      refuse('unable to open file', path)
   end
   local there = tonumber(C.lseek(descriptor, 0, END))
   if there < 0 then
      refuse('unable to tell the length of', path, descriptor)
   end
   size = size > 0 and size or math.floor(there / width)
   if size * width > there then
      if not shared then
         C.close(descriptor)
         error(string.format('file <%s> has %.0f bytes, and a storage of %.0f elements needs %.0f: map less, or share '
            .. 'it to make it longer', path, there, size, size * width), 3)
      elseif C.ftruncate(descriptor, size * width) ~= 0 then
         refuse('unable to make longer', path, descriptor)
      end
   end
   if size > 0 and native.C.br_storage_map(storage, descriptor, shared and 1 or 0, size) ~= 0 then
      refuse('unable to map', path, descriptor)
   end
   C.close(descriptor)
end
