-- torch.File: what files on disk, on pipes and in memory have in common. The bytes are read and written in
-- bridge/core/files/file.c; a file is a userdata, its state lies beside it.
local ffi = require 'ffi'
local native = require 'bridge.native'
local class = require 'torch.class'
local elements = require 'torch.elements'
local object = require 'torch.object'
local arguments = require 'torch.arguments'

local C, cast = native.C, ffi.cast
local bad, raise = arguments.bad, arguments.raise
local READ, WRITE = C.BR_FILE_READ, C.BR_FILE_WRITE

local file = {}
local states = setmetatable({}, {__mode = 'k'}) -- file -> {c = br_file, ...}
local modes = {r = READ, w = WRITE, rw = READ + WRITE}

-- The number of a mode; nothing for what is none.
function file.mode(name)
   return modes[name]
end

-- 'r ', ' w' or 'rw', as messages show it.
function file.modename(mode)
   return (mode % 2 == READ and 'r' or ' ') .. (mode >= WRITE and 'w' or ' ')
end

-- Argument `index` of `count` of a constructor, which is a string; without a default it has to be there.
function file.text(index, value, default, count)
   if value == nil and default then
      return default
   elseif type(value) ~= 'string' and type(value) ~= 'number' then
      arguments.missing(index, 'string', value, count)
   end
   return tostring(value)
end

-- The arguments of a constructor: a name, a mode ('r'), and whether failing to open gives nil.
function file.named(...)
   local name, mode, quiet = ...
   name, mode = file.text(1, name, nil, select('#', ...)), file.text(2, mode, 'r')
   if quiet ~= nil and type(quiet) ~= 'boolean' then
      arguments.typeerror(3, 'boolean', quiet)
   end
   return name, mode, quiet
end

-- A file of a class around an opened br_file; `state` takes what else belongs to it.
function file.new(template, c, state)
   local userdata = newproxy(template)
   state.c = c
   state.address = tonumber(cast('intptr_t', cast('void*', c)))
   state.objects = {} -- number -> object read
   state.written = {} -- object, or its address -> number
   state.kept = {}    -- what `written` knows by address
   state.referenced = true
   states[userdata] = state
   return userdata
end

-- A class of files below torch.File (or one of its children): its metatable and the template of its userdata.
function file.class(name, parent, constructor)
   local template = newproxy(true)
   local metatable = getmetatable(template)
   metatable.new = arguments.public(constructor, 'constructor')
   function metatable.__gc(userdata)
      local state = states[userdata]
      if state then
         C.br_file_close(state.c)
      end
   end
   class.adopt(name, metatable, constructor)
   return setmetatable(metatable, parent), template
end

-- Functions in this file are the program's own, on their way between its threads.
function file.trust(self)
   states[self].trusted = true
end

-- Functions in this file are a stranger's: they stay stand-ins, even where those in files may run, and `reason` is what
-- calling one says.
function file.distrust(self, reason)
   states[self].distrusted = reason
end

-- The state of a file, which need not be open. Unless it is a method's self, `index` says which argument it is.
function file.state(self, index, name)
   return states[self] or arguments.typeerror(index or 1, name or 'torch.File', self)
end

-- The same with the br_file, of one that is open, can be read, or can be written.
function file.opened(self, index, name)
   local state = file.state(self, index, name)
   if state.c.opened == 0 then
      bad(1, 'attempt to use a closed file')
   end
   return state, state.c
end
local opened = file.opened

function file.readable(self, index)
   local state, c = opened(self, index)
   if c.mode == WRITE then
      bad(1, 'attempt to read in a write-only file')
   end
   return state, c
end
local readable = file.readable

function file.writable(self, index)
   local state, c = opened(self, index)
   if c.mode == READ then
      bad(1, 'attempt to write in a read-only file')
   end
   return state, c
end
local writable = file.writable

-- What the system said last, in brackets; nothing after an end of file.
local function cause(c)
   return c.error ~= 0 and ' (' .. ffi.string(C.br_file_message(c.error)) .. ')' or ''
end
file.cause = cause

-- Raise an error, unless the file is quiet.
local function trouble(state, message)
   state.haserror = true
   if state.c.quiet == 0 then
      raise('%s', message .. cause(state.c))
   end
end
file.trouble = trouble

-- Trouble, unless all elements that were wanted have been read or written.
local function check(state, done, wanted, what)
   if done ~= wanted then
      trouble(state, string.format(what == 'read' and 'read error: read %.0f blocks instead of %.0f'
         or 'write error: wrote %.0f blocks instead of %.0f', tonumber(done), tonumber(wanted)))
   end
end
file.check = check

-- Read or write `n` elements of a type at a pointer; how many there were.
function file.get(state, dtype, pointer, n)
   local done = C.br_file_get(state.c, dtype, pointer, n)
   check(state, done, n, 'read')
   return tonumber(done)
end

function file.put(state, dtype, pointer, n)
   local done = C.br_file_put(state.c, dtype, pointer, n)
   check(state, done, n, 'write')
   return tonumber(done)
end

local methods = {}

-- readX([n | storage]) and writeX(number | storage) for each element type that has them.
for _, name in ipairs{'Byte', 'Char', 'Short', 'Int', 'Long', 'Float', 'Double'} do
   local element = elements[name]
   local dtype, box = element.id, ffi.new(element.stored .. '[1]')
   local reads, writes = 'read' .. name, 'write' .. name

   methods[reads] = function(self, ...)
      local into, n = ..., select('#', ...)
      file.state(self)
      if n == 0 then
         box[0] = 0
         file.get(readable(self), dtype, box, 1)
         if not element.integer then
            return C.br_number(box, dtype)
         end
         return tonumber(box[0])
      elseif n == 1 and arguments.number(into) then
         local size = arguments.integer(2, into, 2)
         if size < 0 then
            raise('$ Torch: invalid memory size -- maybe an overflow?')
         end
         local storage = file.storage(readable(self), dtype, size)
         return storage
      elseif n == 1 and object.storagetype(into) == dtype then
         local storage = object.storage(into)
         local done = file.get(readable(self), dtype, storage.live[0], object.valid(storage))
         object.keep(into)
         return done
      end
      raise('nothing, number, or %sStorage expected', name)
   end

   methods[writes] = function(self, ...)
      local value, n = ..., select('#', ...)
      file.state(self)
      local number = n == 1 and arguments.number(value)
      if number then
         box[0] = element.integer and arguments.truncated(number) or number
         file.put(writable(self), dtype, box, 1)
         return
      elseif n == 1 and object.storagetype(value) == dtype then
         local storage = object.storage(value)
         local done = file.put(writable(self), dtype, storage.live[0], object.valid(storage))
         object.keep(value)
         return done
      end
      raise('number, or %sStorage expected', name)
   end
end

function methods:readBool()
   return self:readInt() == 1
end

function methods:writeBool(value)
   self:writeInt(value and 1 or 0)
end

local lengths = ffi.new('int64_t[2]')

-- '*l': the next line; '*a': everything that is left.
function methods:readString(...)
   local format, n = ..., select('#', ...)
   file.state(self)
   if type(format) ~= 'string' and type(format) ~= 'number' then
      arguments.missing(2, 'string', format, n + 1)
   end
   local state, c = readable(self)
   local what = tostring(format):sub(1, 2)
   if what ~= '*a' and what ~= '*l' then
      bad(2, "format must be '*a' or '*l'")
   end
   local bytes = C.br_file_text(c, what == '*l', lengths, lengths + 1)
   if bytes == nil then
      raise('not enough memory for what the file holds')
   end
   local text = ffi.string(bytes, lengths[0])
   C.br_file_free(bytes)
   if lengths[1] == 0 then
      trouble(state, 'read error: read 0 blocks instead of 1')
   end
   return text
end

function methods:writeString(...)
   local text, n = ..., select('#', ...)
   file.state(self)
   if type(text) ~= 'string' then
      arguments.missing(2, 'string', text, n + 1)
   end
   local state, c = writable(self)
   local done = C.br_file_write(c, text, #text)
   check(state, done, #text, 'write')
   return tonumber(done)
end

-- ---- place

function methods:position()
   local state, c = opened(self)
   if c.seekable == 0 then
      trouble(state, 'unable to obtain disk file offset (maybe a long overflow occurred)')
      return 0
   end
   return tonumber(C.br_file_tell(c)) + 1
end

function methods:seek(...)
   file.state(self)
   local offset = arguments.integer(2, ..., select('#', ...) + 1) - 1
   if offset < 0 then
      bad(2, 'position has to be greater than 0!')
   end
   local state, c = opened(self)
   if C.br_file_seek(c, offset) ~= 0 then
      trouble(state, string.format('unable to seek %s position %.0f', state.name and 'to' or 'at', offset))
   end
   return self
end

function methods:seekEnd()
   local state, c = opened(self)
   if C.br_file_seek_end(c) ~= 0 then
      trouble(state, 'unable to seek at end of file')
   end
   return self
end

function methods:synchronize()
   local state, c = opened(self)
   if C.br_file_flush(c) ~= 0 then
      trouble(state, 'write error: unable to synchronize')
   end
   return self
end

function methods:close()
   local state = opened(self)
   if C.br_file_close(state.c) ~= 0 then
      trouble(state, 'write error: not everything could be written')
   end
   state.objects, state.written, state.kept = {}, {}, {}
   return self
end

-- ---- options

-- name -> the br_file's field, its value
local options = {
   binary = {'binary', 1}, ascii = {'binary', 0}, autoSpacing = {'spacing', 1}, noAutoSpacing = {'spacing', 0},
   quiet = {'quiet', 1}, pedantic = {'quiet', 0}
}
for name, option in pairs(options) do
   local field, value = option[1], option[2]
   methods[name] = function(self)
      file.state(self).c[field] = value
      return self
   end
end

local questions = {isBinary = 'binary', isAutoSpacing = 'spacing', isQuiet = 'quiet'}
for name, field in pairs(questions) do
   methods[name] = function(self)
      return file.state(self).c[field] ~= 0
   end
end

function methods:isReadable()
   return file.state(self).c.mode ~= WRITE
end

function methods:isWritable()
   return file.state(self).c.mode ~= READ
end

function methods:hasError()
   return file.state(self).haserror or false
end

function methods:clearError()
   local state = file.state(self)
   state.haserror, state.c.error = nil, 0
   return self
end

-- Whether objects that were met before are written (and read) as references to the first.
function methods:referenced(yes)
   file.state(self).referenced = yes and true or false
   return self
end

function methods:isReferenced()
   return file.state(self).referenced
end

file.metatable = arguments.publish(methods)

return setmetatable(file, {
   __call = function()
      class.adopt('torch.File', methods, function()
         error('no constructor available', 3)
      end)
      return file
   end
})
