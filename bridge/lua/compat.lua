-- What Lua 5.2 added and Torch7 programs use, where this LuaJIT (built without LUA52COMPAT) lacks it.
local ffi = require 'ffi'

local rawequal, type, select = rawequal, type, select

local compat = {}
local ctypes = {} -- number of a ctype -> the metatable that ffi.metatype gave it

function compat.pack(...)
   return {n = select('#', ...), ...}
end

function compat.rawlen(object)
   local kind = type(object)
   if kind ~= 'table' and kind ~= 'string' then
      error("bad argument #1 to 'rawlen' (table or string expected)", 2)
   end
   return #object
end

-- ffi.metatype, which keeps the metatable for the metamethods that LuaJIT itself does not ask for.
function compat.metatype(native)
   return function(ctype, metatable)
      local made = native(ctype, metatable)
      for _, declarator in ipairs{'$', '$ &', '$ *'} do
         ctypes[tonumber(ffi.typeof(declarator, made))] = metatable
      end
      return made
   end
end

-- A metamethod of any value, hidden metatables included.
local function metamethod(object, name)
   if type(object) == 'cdata' then
      local metatable = ctypes[tonumber(ffi.typeof(object))]
      return metatable and metatable[name]
   end
   local metatable = getmetatable(object)
   if metatable == nil then
      return nil
   end
   if type(metatable) ~= 'table' then
      metatable = debug.getmetatable(object)
   end
   return rawget(metatable, name)
end

-- `pairs` or `ipairs` that asks the object's own `__pairs` or `__ipairs` first.
local function iterator(name, native)
   local event = '__' .. name
   return function(object)
      local method = metamethod(object, event)
      if method then
         local f, state, first = method(object)
         return f, state, first
      elseif type(object) ~= 'table' then
         error(string.format("bad argument #1 to '%s' (table expected, got %s)", name,
            object == nil and 'nil' or type(object)), 2)
      end
      return native(object)
   end
end

-- A command's wait status (or none) as Lua 5.2 gives it.
local function status(code)
   if code == -1 then
      return nil, 'exit', -1
   end
   local signal = code % 128
   if signal ~= 0 then
      return nil, 'signal', signal
   end
   local exit = (code - code % 256) / 256
   return exit == 0 or nil, 'exit', exit
end

function compat.execute(native)
   return function(command)
      if command == nil then
         return native() ~= 0
      end
      return status(native(command))
   end
end

-- file:write, which answers the file, so that calls can follow it.
function compat.write(native)
   local function answer(file, ok, ...)
      if ok then
         return file
      end
      return ok, ...
   end
   return function(file, ...)
      for i = 1, select('#', ...) do
         local kind = type((select(i, ...)))
         if kind ~= 'string' and kind ~= 'number' then
            error(string.format("bad argument #%d to 'write' (string expected, got %s)", i, kind), 2)
         end
      end
      return answer(file, native(file, ...))
   end
end

local function define(place, name, value)
   if rawequal(place[name], nil) then
      place[name] = value
   end
end

function compat.install()
   define(table, 'pack', compat.pack)
   define(table, 'unpack', unpack)
   define(_G, 'rawlen', compat.rawlen)
   define(package, 'searchers', package.loaders)
   define(_G, 'bit32', require 'bridge.lua.bit32')
   define(package.loaded, 'bit32', bit32)
   pairs = iterator('pairs', pairs)
   ipairs = iterator('ipairs', ipairs)
   os.execute = compat.execute(os.execute)
   local methods = debug.getmetatable(io.stdout).__index
   methods.write = compat.write(methods.write)
   function io.write(...)
      return methods.write(io.output(), ...)
   end
   ffi.metatype = compat.metatype(ffi.metatype)
end

return compat
