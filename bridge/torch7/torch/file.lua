-- torch.File: what files on disk, on pipes and in memory have in common. The bytes are read and written in
-- bridge/core/file.c; a file is a userdata, its state lies beside it.
local ffi = require 'ffi'
local native = require 'bridge.native'
local class = require 'torch.class'
local elements = require 'torch.elements'
local object = require 'torch.object'
local arguments = require 'torch.arguments'

local C, cast = native.C, ffi.cast
local fail = arguments.fail
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
   metatable.new = constructor
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

-- The state of a file, which need not be open.
function file.state(name, self)
   local state = states[self]
   if not state then
      fail(1, name, 'torch.File expected, got ' .. arguments.typename(self), 1)
   end
   return state
end

local function opened(name, self)
   local state = states[self]
   if not state then
      fail(1, name, 'torch.File expected, got ' .. arguments.typename(self), 1)
   elseif state.c.opened == 0 then
      fail(1, name, 'attempt to use a closed file', 1)
   end
   return state, state.c
end
file.opened = opened

local function readable(name, self)
   local state, c = opened(name, self)
   if c.mode == WRITE then
      fail(1, name, 'attempt to read in a write-only file', 1)
   end
   return state, c
end
file.readable = readable

local function writable(name, self)
   local state, c = opened(name, self)
   if c.mode == READ then
      fail(1, name, 'attempt to write in a read-only file', 1)
   end
   return state, c
end
file.writable = writable

-- What the system said last, in brackets; nothing after an end of file.
local function cause(c)
   return c.error ~= 0 and ' (' .. ffi.string(C.br_file_message(c.error)) .. ')' or ''
end
file.cause = cause

-- Raise an error, unless the file is quiet.
local function trouble(state, message)
   state.haserror = true
   if state.c.quiet == 0 then
      error(message .. cause(state.c), 3)
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

   methods[reads] = function(self, into)
      local state = readable(reads, self)
      if into == nil then
         box[0] = 0
         file.get(state, dtype, box, 1)
         if not element.integer then
            return C.br_number(box, dtype)
         end
         return tonumber(box[0])
      elseif object.storagetype(into) == dtype then
         local storage = object.storage(into)
         local done = file.get(state, dtype, storage.live[0], object.valid(storage))
         object.keep(into)
         return done
      elseif type(into) == 'number' or arguments.number(into) then
         return file.storage(state, dtype, arguments.integer(2, reads, into))
      end
      error('nothing, number, or ' .. name .. 'Storage expected', 2)
   end

   methods[writes] = function(self, value)
      local state = writable(writes, self)
      local number = arguments.number(value)
      if number then
         if element.integer then
            box[0] = arguments.integer(2, writes, number)
         else
            box[0] = number
         end
         file.put(state, dtype, box, 1)
         return
      elseif object.storagetype(value) == dtype then
         local storage = object.storage(value)
         local done = file.put(state, dtype, storage.live[0], object.valid(storage))
         object.keep(value)
         return done
      end
      error('number, or ' .. name .. 'Storage expected', 2)
   end
end

local truth = ffi.new('int32_t[1]')

function methods:readBool()
   truth[0] = 0
   file.get(readable('readBool', self), C.BR_INT, truth, 1)
   return truth[0] ~= 0
end

function methods:writeBool(value)
   local state = writable('writeBool', self)
   if type(value) ~= 'boolean' then
      fail(2, 'writeBool', 'boolean expected, got ' .. (value == nil and 'no value' or type(value)))
   end
   truth[0] = value and 1 or 0
   file.put(state, C.BR_INT, truth, 1)
end

local lengths = ffi.new('int64_t[2]')

-- '*l': the next line; '*a': everything that is left.
function methods:readString(format)
   local state, c = readable('readString', self)
   local what = type(format) == 'string' and format:sub(1, 2)
   if what ~= '*a' and what ~= '*l' then
      fail(2, 'readString', type(format) == 'string' and "format must be '*a' or '*l'"
         or 'string expected, got ' .. (format == nil and 'no value' or type(format)))
   end
   local bytes = C.br_file_text(c, what == '*l', lengths, lengths + 1)
   if bytes == nil then
      error('not enough memory for what the file holds', 2)
   end
   local text = ffi.string(bytes, lengths[0])
   C.br_file_free(bytes)
   if lengths[1] == 0 then
      trouble(state, 'read error: read 0 blocks instead of 1')
   end
   return text
end

function methods:writeString(text)
   local state, c = writable('writeString', self)
   if type(text) ~= 'string' and type(text) ~= 'number' then
      fail(2, 'writeString', 'string expected, got ' .. (text == nil and 'no value' or type(text)))
   end
   text = tostring(text)
   local done = C.br_file_write(c, text, #text)
   check(state, done, #text, 'write')
   return tonumber(done)
end

-- ---- place

function methods:position()
   local state, c = opened('position', self)
   if c.seekable == 0 then
      trouble(state, 'unable to obtain disk file offset (maximum value overflow)')
      return 0
   end
   return tonumber(C.br_file_tell(c)) + 1
end

function methods:seek(position)
   local state, c = opened('seek', self)
   local offset = arguments.integer(2, 'seek', position) - 1
   if offset < 0 then
      fail(2, 'seek', 'position has to be greater than 0!')
   end
   if C.br_file_seek(c, offset) ~= 0 then
      trouble(state, string.format('unable to seek at position %.0f', offset + 1))
   end
   return self
end

function methods:seekEnd()
   local state, c = opened('seekEnd', self)
   if C.br_file_seek_end(c) ~= 0 then
      trouble(state, 'unable to seek at end of file')
   end
   return self
end

function methods:synchronize()
   local state, c = opened('synchronize', self)
   if C.br_file_flush(c) ~= 0 then
      trouble(state, 'write error: unable to synchronize')
   end
   return self
end

function methods:close()
   local state = opened('close', self)
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
      file.state(name, self).c[field] = value
      return self
   end
end

local questions = {isBinary = 'binary', isAutoSpacing = 'spacing', isQuiet = 'quiet'}
for name, field in pairs(questions) do
   methods[name] = function(self)
      return file.state(name, self).c[field] ~= 0
   end
end

function methods:isReadable()
   return file.state('isReadable', self).c.mode ~= WRITE
end

function methods:isWritable()
   return file.state('isWritable', self).c.mode ~= READ
end

function methods:hasError()
   return file.state('hasError', self).haserror or false
end

function methods:clearError()
   local state = file.state('clearError', self)
   state.haserror, state.c.error = nil, 0
   return self
end

-- Whether objects that were met before are written (and read) as references to the first.
function methods:referenced(yes)
   file.state('referenced', self).referenced = yes and true or false
   return self
end

function methods:isReferenced()
   return file.state('isReferenced', self).referenced
end

file.metatable = methods

return setmetatable(file, {
   __call = function()
      class.adopt('torch.File', methods, function()
         error('torch.File is what files have in common: make a torch.DiskFile, MemoryFile or PipeFile', 3)
      end)
      return file
   end
})
