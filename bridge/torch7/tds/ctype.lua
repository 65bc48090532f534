-- A tds type to Lua: a C struct behind a counted reference, with its metatable, its name in torch and its place as an
-- element of other tds objects.
local ffi = require 'ffi'
local torch = require 'torch'
local C = require 'tds.C'
local elem = require 'tds.elem'

-- `name` in torch, `struct` in C, the prefix of its C functions, and what its objects do. Answers a function that
-- makes an empty object, and the test whether something is one.
return function(name, struct, prefix, metatable)
   local reference = ffi.typeof(struct .. '&')
   local new, retain, free = C[prefix .. '_new'], C[prefix .. '_retain'], C[prefix .. '_free']

   local function wrap(pointer)
      return ffi.gc(ffi.cast(reference, pointer), free)
   end

   local function create()
      local pointer = new()
      if pointer == nil then
         error('not enough memory')
      end
      return wrap(pointer)
   end

   metatable.__factory = create
   metatable.__typename = name
   metatable.__version = 0
   ffi.metatype(struct, metatable)
   torch.metatype(name, metatable, reference)

   elem.addctype(name, free,
      function(object)
         retain(object)
         return object, free
      end,
      function(pointer)
         local object = ffi.cast(reference, pointer)
         retain(object)
         return ffi.gc(object, free)
      end)

   return create, function(object)
      return type(object) == 'cdata' and ffi.istype(reference, object)
   end
end
