-- What type an object has: torch.typename, torch.type, torch.isTypeOf; and its identity: torch.pointer.
local ffi = require 'ffi'

local ctypes = {} -- ctype number -> name, of cdata types that entered by torch.metatype

local function cdatatype(object)
   return tonumber(ffi.typeof(object))
end

local function address(object)
   return tonumber(string.format('%p', object))
end

local function install(torch, class)
   local name = class.name

   function torch.typename(...)
      if select('#', ...) == 0 then
         error("bad argument #1 to 'typename' (value expected)", 2)
      end
      local object = ...
      if type(object) == 'cdata' then
         return ctypes[cdatatype(object)]
      end
      local found = name(getmetatable(object))
      if found and not class.isconstructor(object) then
         return found
      end
      return nil
   end
   local typename = torch.typename

   function torch.type(object)
      return typename(object) or type(object)
   end

   -- Is `object` of the class `spec` (its full name, a pattern such as 'torch.*Tensor', or a constructor), or of one
   -- derived from it? A pattern that stands for itself in a longer name is none.
   function torch.isTypeOf(object, spec)
      if type(spec) ~= 'string' then
         spec = getmetatable(spec).__typename
         if type(spec) ~= 'string' then
            error('type must be provided as [regexp] string, or factory', 0)
         end
      end
      local metatable = getmetatable(object)
      while metatable do
         local typed = type(metatable) == 'table' and metatable.__typename
         local found = typed and typed:match(spec)
         if found and (found ~= spec or found == typed) then
            return true
         end
         metatable = getmetatable(metatable)
      end
      return false
   end

   -- Give a cdata type a name and a metatable of class-like fields (`__factory`, `read`, `write`, ...).
   function torch.metatype(typed, metatable, ctype)
      if type(typed) ~= 'string' or type(metatable) ~= 'table' or ctype == nil then
         error('metatype: expected a name, a metatable and a C type', 2)
      end
      class.classes[typed] = metatable
      ctypes[tonumber(ffi.typeof(ctype))] = typed
      return metatable
   end

   -- A number that tells objects apart: the address of what `object` refers to.
   function torch.pointer(object)
      local kind = type(object)
      if kind == 'cdata' then
         return tonumber(ffi.cast('intptr_t', ffi.cast('const void *', object)))
      elseif kind == 'userdata' or kind == 'table' then
         local metatable = getmetatable(object)
         local pointer = name(metatable) and metatable.__pointer
         return pointer and pointer(object) or address(object)
      elseif kind == 'function' or kind == 'thread' or kind == 'string' then
         return address(object)
      end
      error('Torch object, table, thread, cdata or function expected', 2)
   end

   -- An object of class `typed` around a C pointer (or an address) to its struct; the object takes the caller's
   -- reference.
   function torch.pushudata(pointer, typed)
      local metatable = torch.getmetatable(typed)
      if not metatable then
         error(string.format('unknown typename %s', tostring(typed)), 2)
      end
      local push = rawget(metatable, '__pushudata')
      if not push then
         error(string.format('%s cannot be made from a C pointer', typed), 2)
      end
      if type(pointer) == 'number' then
         pointer = ffi.cast('void *', ffi.cast('intptr_t', pointer))
      elseif type(pointer) ~= 'cdata' then
         error('expecting number or cdata', 2)
      end
      if pointer == nil then
         error(string.format('there is no %s at the null pointer', typed), 2)
      end
      return push(pointer)
   end
end

return install
