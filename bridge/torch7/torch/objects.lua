-- Objects in files: File:writeObject and File:readObject. Plain values and tables are done in
-- bridge/core/files/read.c and write.c, which ask here for what has a class, and for functions.
local ffi = require 'ffi'
local native = require 'bridge.native'
local class = require 'torch.class'
local elements = require 'torch.elements'
local fieldwise = require 'torch.fieldwise'
local functions = require 'torch.functions'

local C = native.C
local TABLE, TORCH, FUNCTION, SHARED_FUNCTION = 3, 4, 6, 8 -- see bridge/core/files/objects.h
local INT, CHAR = elements.Int.id, elements.Char.id
local LONGEST = 200 -- characters of a class's name that a message shows

local int = ffi.new('int32_t[1]')

return function(torch, file)
   local methods = file.metatable

   local function putint(state, value)
      int[0] = value
      file.put(state, INT, int, 1)
   end

   local function puttext(state, text)
      putint(state, #text)
      if #text > 0 then
         file.put(state, CHAR, ffi.cast('const char*', text), #text)
      end
   end

   local function gettext(state)
      int[0] = 0
      file.get(state, INT, int, 1)
      local length, c = int[0], state.c
      if length < 0 then
         error(string.format('corrupt file: a name or function of %d bytes (before byte %.0f)', length,
            tonumber(C.br_file_tell(c))), 0)
      elseif length <= LONGEST and c.binary ~= 0 and C.br_file_need(c, length) >= length then
         local text = ffi.string(c.data + c.position, length) -- the name of a class, most of the time
         c.position = c.position + length
         return text
      end
      return file.storage(state, CHAR, length):string()
   end

   -- A class's own way to read or write its objects, where that is not the usual one.
   local function own(metatable, what)
      local method = metatable['__' .. what] or metatable[what]
      return type(method) == 'function' and not fieldwise[method] and method or nil
   end

   -- ---- writing

   -- The number of an object that was written before; nothing for a new one, which gets one.
   local function numbered(state, key, object)
      if state.referenced then
         local number = state.written[key]
         if number then
            putint(state, number)
            return true
         end
      end
      local number = state.c.objects + 1
      state.c.objects = number
      if state.referenced then
         state.written[key] = tonumber(number)
         state.kept[#state.kept + 1] = object
      end
      putint(state, number)
   end

   -- Fields that can be written; the others are told and left out.
   local function fieldsof(self, object, typename)
      local fields = {}
      for key, value in pairs(object) do
         if self:isWritableObject(value) then
            fields[key] = value
         else
            print(string.format('$ Warning: cannot write object field <%s> of <%s>', tostring(key), typename))
         end
      end
      return fields
   end

   -- A table whose entries are written in the order given: `list` has key, value, key, value, ...
   local function puttable(self, state, identity, list, n)
      putint(state, TABLE)
      if numbered(state, identity, identity) then
         return
      end
      local size = 0
      for i = 2, n, 2 do
         size = size + (list[i] ~= nil and 1 or 0)
      end
      putint(state, size)
      for i = 1, n, 2 do
         if list[i + 1] ~= nil then
            self:writeObject(list[i])
            self:writeObject(list[i + 1])
         end
      end
   end

   -- A table that says itself what its entries are; nothing for others.
   local function putpairs(self, state, object)
      local metatable = debug.getmetatable(object)
      if rawget(metatable, '__pairs') == nil then
         return nil
      end
      local list, n = {}, 0
      for key, value in pairs(object) do
         list[n + 1], list[n + 2] = key, value
         n = n + 2
      end
      puttable(self, state, object, list, n)
      return true
   end

   -- Upvalues have their fields in the original's order, whatever that of a table here is.
   local function putupvalues(self, state, upvalues)
      putint(state, TABLE)
      if numbered(state, upvalues, upvalues) then
         return
      end
      putint(state, #upvalues)
      for i, upvalue in ipairs(upvalues) do
         self:writeObject(i)
         puttable(self, state, upvalue,
            {'name', upvalue.name, 'id', upvalue.id, 'value', upvalue.value, 'own', upvalue.own}, 8)
      end
   end

   local function isupvalues(upvalues)
      if type(upvalues) ~= 'table' then
         return false
      end
      local n = 0
      for _, upvalue in pairs(upvalues) do
         n = n + 1
         for key in pairs(type(upvalue) == 'table' and upvalue or {[0] = 0}) do
            if key ~= 'name' and key ~= 'id' and key ~= 'value' and key ~= 'own' then
               return false
            end
         end
      end
      return n == #upvalues
   end

   local function special(self, object)
      local state = file.writable(self)
      local kind, typename = type(object), torch.typename(object)
      if not typename then
         if kind == 'table' then
            return putpairs(self, state, object)
         end
         -- What is read back as trusted must not be a file's.
         local code = kind == 'function' and not (state.trusted and functions.isstandin(object))
            and functions.dump(object)
         if not code then
            return false
         end
         putint(state, SHARED_FUNCTION)
         if numbered(state, object, object) then
            return true
         end
         puttext(state, code)
         state.ids = state.ids or {}
         local upvalues = functions.upvalues(object, state.ids)
         if isupvalues(upvalues) then
            putupvalues(self, state, upvalues)
            return true
         end
         return upvalues
      end
      putint(state, TORCH)
      if numbered(state, kind == 'table' and object or torch.pointer(object), object) then
         return true
      end
      local metatable = class.classes[typename]
      puttext(state, 'V ' .. tostring(metatable.__version or 1))
      puttext(state, typename)
      local write = own(metatable, 'write')
      if write then
         write(object, self)
         return true
      elseif kind == 'table' then
         return fieldsof(self, object, typename)
      end
      error(string.format('<%s> is a non-serializable Torch object', typename), 0)
   end

   -- The number that stands before an object of this kind; nothing for what cannot be written.
   function methods.isWritableObject(_, object)
      local kind = type(object)
      if kind == 'nil' then
         return 0
      elseif torch.typename(object) then
         return TORCH
      elseif kind == 'table' then
         return 3
      elseif kind == 'number' then
         return 1
      elseif kind == 'string' then
         return 2
      elseif kind == 'boolean' then
         return 5
      elseif kind == 'function' and functions.dump(object) then
         return SHARED_FUNCTION
      end
      return nil
   end

   -- [name]: what messages call the object. [hook]: takes each object, gives what is written in its place.
   function methods:writeObject(object, name, hook)
      local state = file.writable(self)
      native.writeobject(state.address, state.referenced and state.written, special, self, object,
         type(name) == 'string' and name or '<?>', hook)
   end

   -- ---- reading

   -- Tensors of a GPU become tensors of the same type here, unless a package knows them better.
   local function substitute(name)
      local kind, what = name:match('^torch%.Cuda(%a-)(Tensor)$')
      if not kind then
         kind, what = name:match('^torch%.Cuda(%a-)(Storage)$')
      end
      if kind and (kind == '' or elements[kind]) then
         return 'torch.' .. (kind == '' and 'Float' or kind) .. what
      end
   end

   local function findclass(name)
      local metatable = class.classes[name]
      if not (metatable and rawget(metatable, '__factory')) then
         metatable = class.classes[substitute(name) or name]
      end
      local factory = metatable and rawget(metatable, '__factory')
      if not factory then
         factory = torch.factory(name) -- programs replace it by one that makes the class when it is asked for
         metatable = class.classes[name]
      end
      if not (factory and metatable) then
         error(string.format('unknown Torch class <%s> (the file holds an object of this class; '
            .. 'require the package, or run the file, that defines it first)', name:sub(1, LONGEST)), 0)
      end
      return metatable, factory
   end

   local function readtorch(self, state, number)
      local version = gettext(state)
      local name, stored = version, 0 -- before classes had versions
      local digits = version:match('^V (.*)$')
      if digits then
         name, stored = gettext(state), tonumber(digits)
      end
      local metatable, factory = findclass(name)
      local object = factory(self)
      if state.referenced then
         state.objects[number] = object
      end
      local read = own(metatable, 'read')
      if read then
         read(object, self, stored)
         return object, false
      elseif type(object) == 'table' then
         return object, true
      end
      error(string.format('cannot read object class <%s>', name), 0)
   end

   local function begin(self, kind, number)
      local state = file.readable(self)
      if kind == TORCH then
         return readtorch(self, state, number)
      end
      local f = functions.load(gettext(state), state.trusted, state.distrusted)
      if state.referenced and kind ~= FUNCTION then
         state.objects[number] = f
      end
      return f, true
   end

   local function finish(self, kind, object, fields)
      if kind ~= TORCH then
         local state = file.state(self)
         state.joined = state.joined or {}
         return functions.setupvalues(object, fields, kind ~= SHARED_FUNCTION, state.joined)
      elseif type(fields) ~= 'table' then
         error(string.format('corrupt file: the fields of a %s are a %s', torch.type(object), type(fields)), 0)
      end
      for key, value in pairs(fields) do
         object[key] = value
      end
   end

   function methods:readObject()
      local state = file.readable(self)
      local object, failed = native.readobject(state.address, state.referenced and state.objects, begin, finish, self)
      if failed then
         state.haserror = true
      end
      return object
   end
end
