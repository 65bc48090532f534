-- What a program asks about the world around it: where packages lie, files beside it, environments of functions,
-- whether a stream is a terminal.
local ffi = require 'ffi'
local class = require 'torch.class'
local compiled = require 'bridge.runtime.compiled'

ffi.cdef[[
int isatty(int descriptor);
int fileno(void *stream);
]]

local function exists(path)
   local file = io.open(path)
   if file then
      file:close()
   end
   return file ~= nil
end

local function directory(path)
   return path:match('^(.*)/')
end

local function environmental(name, object)
   if type(object) ~= 'function' and type(object) ~= 'userdata' then
      error(string.format("bad argument #1 to '%s' (function or userdata expected, got %s)", name,
         object == nil and 'no value' or type(object)), 3)
   end
end

return function(torch)
   -- The directory that holds the Lua files of a package; without a name, the one that holds the packages.
   function torch.packageLuaPath(name)
      if not name then
         return directory(torch.packageLuaPath('torch'))
      end
      for pattern in package.path:gmatch('[^;]+') do
         local path = pattern:gsub('%?', (name:gsub('%%', '%%%%')))
         if exists(path) then
            return directory(path)
         end
      end
      local file = compiled.installed(name)
      return file and directory(file)
   end

   -- Run a file of a package.
   function torch.include(package, file)
      local place = torch.packageLuaPath(package)
      if not place then
         error(string.format("there is no package '%s' on package.path", tostring(package)), 2)
      end
      dofile(place .. '/' .. file)
   end

   -- Run a file beside the file whose code calls this.
   function include(file, depth)
      local source = debug.getinfo(2 + (depth or 0), 'S').source
      local place = source:sub(1, 1) == '@' and directory(source:sub(2))
      local beside = place and file:sub(1, 1) ~= '/' and place .. '/' .. file or file
      return dofile(exists(beside) and beside or file)
   end

   -- The environment of a function or userdata.
   function torch.getenv(object)
      environmental('getenv', object)
      return debug.getfenv(object) or {}
   end

   function torch.setenv(object, environment)
      environmental('setenv', object)
      if type(environment) ~= 'table' then
         error("bad argument #2 to 'setenv' (table expected, got " .. type(environment) .. ')', 2)
      end
      debug.setfenv(object, environment)
   end

   -- Is an open file a terminal?
   function torch.isatty(file)
      if io.type(file) ~= 'file' then
         error(string.format("bad argument #1 to 'isatty' (FILE* expected, got %s)",
            io.type(file) or file == nil and 'no value' or type(file)), 2)
      end
      return ffi.C.isatty(ffi.C.fileno(file)) == 1
   end

   -- The version of an object's class.
   function torch.version(object)
      local metatable = getmetatable(object)
      return class.name(metatable) and metatable.__version or nil
   end

   -- Are two values the same object? Of C data, those that point to the same place.
   function torch.isequal(a, b)
      if type(a) == 'cdata' and type(b) == 'cdata' then
         return torch.pointer(a) == torch.pointer(b)
      end
      return rawequal(a, b)
   end

   -- Errors of the loops become Lua errors where they are called, in every thread: nothing has to be told which thread
   -- it runs in. Programs that start threads of their own call these as Torch7 wants them to.
   function torch.updateerrorhandlers()
   end

   function torch.updatethreadlocals()
   end
end
