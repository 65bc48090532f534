-- torch.save and torch.load, torch.serialize and torch.deserialize: whole objects to and from files and strings.
local ffi = require 'ffi'
local native = require 'bridge.native'
local elements = require 'torch.elements'
local object = require 'torch.object'
local arguments = require 'torch.arguments'
local formats = require 'torch.formats'

local C = native.C
local CHAR = elements.Char.id
local BINARY = {binary = 0, b32 = 4, b64 = 8} -- mode -> bytes of a long
local NAME = 4096 + 64 -- room for the name of a temporary file

return function(torch, file)
   local function checkmode(mode)
      if mode ~= nil and mode ~= 'ascii' and not BINARY[mode] then
         error('"binary", "b32", "b64" or "ascii" (or nil) expected for mode', 0)
      end
   end

   local function prepare(opened, mode, referenced)
      local c = file.state(opened).c
      c.binary = mode == 'ascii' and 0 or 1
      c.longsize = BINARY[mode] or 0
      opened:referenced(referenced ~= false)
   end

   local function checkarguments(filename, mode, referenced)
      checkmode(mode)
      if referenced ~= nil and type(referenced) ~= 'boolean' then
         error('true or false (or nil) expected for referenced', 0)
      end
      return (file.text(1, filename, nil, 1))
   end

   -- The object is written beside the file, which it then replaces: whatever happens, the file is the old or the new.
   function torch.save(filename, value, mode, referenced)
      filename = checkarguments(filename, mode, referenced)
      local c = ffi.new('br_file')
      local temporary = ffi.new('char[?]', NAME)
      if filename:find('\0', 1, true) or C.br_file_open_beside(c, filename, temporary, NAME) ~= 0 then
         error(string.format('cannot open <%s> in mode  w', filename), 0)
      end
      local beside = temporary[0] ~= 0
      local opened = file.disk(c, filename)
      prepare(opened, mode, referenced)
      local ok, message = xpcall(function()
         opened:writeObject(value)
      end, function(message)
         return message
      end)
      local code = 0
      if ok and beside then
         code = C.br_file_replace(c, temporary, filename)
      elseif C.br_file_close(c) ~= 0 then
         code = c.error
      end
      if beside and (not ok or code ~= 0) then
         os.remove(ffi.string(temporary))
      end
      if not ok then
         error(message, 0)
      elseif code ~= 0 then
         error(string.format('write error: <%s> was not written (%s)', filename,
            ffi.string(C.br_file_message(code))), 2)
      end
   end
   torch.saveobj = torch.save

   -- With `mapped`, tensors whose data lie aligned in a binary file are private maps of it: loading reads nothing of
   -- them, and what is written to them does not reach the file. If another program shortens the file meanwhile, reading
   -- what it cut off ends the process (SIGBUS).
   function torch.load(filename, mode, referenced, mapped)
      filename = checkarguments(filename, mode, referenced)
      if mapped ~= nil and type(mapped) ~= 'boolean' then
         error('true or false (or nil) expected for mapped', 0)
      end
      local opened = torch.DiskFile(filename, 'r')
      prepare(opened, mode, referenced)
      file.state(opened).c.mapped = mapped and 1 or 0
      local problem = formats.problem(file.state(opened).c, filename, mode)
      if problem then
         opened:close()
         error(problem, 2)
      end
      local value = opened:readObject()
      opened:close()
      return value
   end
   torch.loadobj = torch.load

   function torch.serializeToStorage(value, mode)
      checkmode(mode)
      local opened = torch.MemoryFile()
      prepare(opened, mode)
      opened:writeObject(value)
      local storage = opened:storage()
      storage:resize(storage:size() - 1) -- the zero at the end is not part of it
      opened:close()
      return storage
   end

   function torch.serialize(value, mode)
      checkmode(mode)
      return torch.serializeToStorage(value, mode):string()
   end

   -- The object that the first `size` bytes of a CharStorage hold.
   local function deserialize(storage, size, mode)
      if size == 0 then
         error("bad argument #1 to 'size' (dimension 1 out of range of 0D tensor)", 3)
      end
      local c = ffi.new('br_file')
      C.br_file_open_memory(c, object.storage(storage), C.BR_FILE_READ)
      c.filled = size -- there need not be a zero behind it
      local opened = file.memory(c)
      prepare(opened, mode)
      local value = opened:readObject()
      opened:close()
      object.keep(storage)
      return value
   end

   -- A CharStorage of what `serialize` gave, or of a longer run of bytes that begins with it.
   function torch.deserializeFromStorage(storage, mode)
      checkmode(mode)
      if object.storagetype(storage) ~= CHAR then
         arguments.typeerror(1, 'torch.CharStorage', storage)
      end
      return deserialize(storage, object.valid(object.storage(storage)), mode)
   end

   function torch.deserialize(text, mode)
      checkmode(mode)
      text = file.text(1, text, nil, 0)
      local storage = object.wrapstorage(object.allocate(CHAR, #text))
      ffi.copy(object.storage(storage).live[0], text, #text)
      return deserialize(storage, #text, mode)
   end
end
