-- Additions of Lua 5.2 that Torch7 programs use and this LuaJIT, which was built without LUA52COMPAT, lacks.
local ffi = require 'ffi'
local commands = require 'bridge.runtime.commands'

local rawequal, type, select = rawequal, type, select

local compat = {}
local ctypes = {} -- id of a C type -> the metatable that ffi.metatype was given for it

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

-- ffi.metatype that also remembers the metatable, for metamethods that LuaJIT itself does not use.
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

-- `pairs` or `ipairs` that uses the object's `__pairs` or `__ipairs` if it has one.
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

-- file:write that returns the file, so that calls can be chained.
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

-- coroutine.running that also works in the main program: returns the coroutine and whether it is the main one.
function compat.running(native, main)
   return function()
      local running = native()
      if running == nil then
         return main, true
      end
      return running, false
   end
end

-- module that returns the module's table.
function compat.module(native)
   return function(name, ...)
      local environment = function()
         native(name)
      end
      environment()
      local made = getfenv(environment)
      setfenv(2, made)
      for i = 1, select('#', ...) do
         select(i, ...)(made)
      end
      return made
   end
end

function compat.setmetatable(native)
   return function(object, metatable)
      native(object, metatable)
      return object
   end
end

function compat.getuservalue(object)
   return type(object) == 'userdata' and debug.getfenv(object) or nil
end

function compat.setuservalue(object, value)
   if type(object) ~= 'userdata' then
      error("bad argument #1 to 'setuservalue' (userdata expected, got " .. type(object) .. ')', 2)
   end
   return debug.setfenv(object, value)
end

local function define(place, name, value)
   if rawequal(place[name], nil) then
      place[name] = value
   end
end

-- `main` is the coroutine of the main program.
function compat.install(main)
   define(table, 'pack', compat.pack)
   define(table, 'unpack', unpack)
   define(_G, 'rawlen', compat.rawlen)
   define(package, 'searchers', package.loaders)
   define(_G, 'bit32', require 'bridge.runtime.bit32')
   define(package.loaded, 'bit32', bit32)
   pairs = iterator('pairs', pairs)
   ipairs = iterator('ipairs', ipairs)
   module = compat.module(module)
   coroutine.running = compat.running(coroutine.running, main)
   define(debug, 'getuservalue', compat.getuservalue)
   define(debug, 'setuservalue', compat.setuservalue)
   debug.setmetatable = compat.setmetatable(debug.setmetatable)
   os.execute = commands.execute(os.execute)
   local methods = debug.getmetatable(io.stdout).__index
   methods.close = commands.close(methods.close)
   function io.close(...)
      return methods.close(select('#', ...) == 0 and io.output() or ...)
   end
   methods.write = compat.write(methods.write)
   function io.write(...)
      return methods.write(io.output(), ...)
   end
   ffi.metatype = compat.metatype(ffi.metatype)
end

return compat
