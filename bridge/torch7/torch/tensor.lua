-- torch.XTensor: the metatables of the eight tensor types, and what a tensor tells about itself.
local ffi = require 'ffi'
local native = require 'bridge.native'
local class = require 'torch.class'
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local arguments = require 'torch.arguments'
local index = require 'torch.index'
local element = require 'torch.element'
element = setfenv(loadstring(string.dump(element, true)), getfenv(element)) -- without lines, see there
local construct = require 'torch.construct'

local C, cast = native.C, ffi.cast
local typeerror = arguments.typeerror
local dtypeof = object.dtypeof
local tensorpointer = ffi.typeof('br_tensor*')

local methods = {}

-- The pointer of a method's `self`.
local function check(self)
   if not dtypeof[getmetatable(self)] then
      typeerror(1, elements[object.default].tensortype, self)
   end
   return cast(tensorpointer, self)
end

-- The dimension that a number names, as an offset; nothing for what is no number.
local function extent(t, d)
   local i = arguments.number(d)
   if not i then
      return nil
   end
   i = arguments.truncated(i)
   if i < 1 or i > t.nDimension then
      arguments.bad(2, 'dimension %d out of range of %dD tensor', i, t.nDimension)
   end
   return i - 1
end

function methods:size(d)
   local t = check(self)
   local at = d ~= nil and extent(t, d)
   if at then
      return tonumber(t.size[at])
   end
   local list = object.longstorage(t.size, t.nDimension)
   object.keep(self)
   return list
end

function methods:stride(d)
   local t = check(self)
   local at = d ~= nil and extent(t, d)
   if at then
      return tonumber(t.stride[at])
   end
   local list = object.longstorage(t.stride, t.nDimension)
   object.keep(self)
   return list
end

function methods:dim()
   return check(self).nDimension
end
methods.nDimension = methods.dim

function methods:nElement()
   return geometry.elements(check(self))
end

function methods:storage()
   local storage = check(self).storage
   if storage == nil then
      return nil
   end
   C.br_storage_retain(storage)
   object.keep(self)
   return object.wrapstorage(storage)
end

function methods:storageOffset()
   return tonumber(check(self).storageOffset) + 1
end

function methods:elementSize()
   return elements[check(self).dtype].bytes
end

function methods:isContiguous()
   return geometry.contiguous(check(self))
end

function methods:isSameSizeAs(other)
   local t = check(self)
   local o = arguments.tensor(2, other, t.dtype)
   return geometry.samesize(t, o)
end

function methods:isSetTo(other)
   local t = check(self)
   local o = arguments.tensor(2, other, t.dtype)
   if t.storage == nil or t.storage ~= o.storage or t.storageOffset ~= o.storageOffset
      or not geometry.samesize(t, o) then
      return false
   end
   for d = 0, t.nDimension - 1 do
      if t.stride[d] ~= o.stride[d] then
         return false
      end
   end
   return true
end

function methods:isSize(size)
   local t = check(self)
   if object.storagetype(size) ~= elements.Long.id then
      typeerror(2, 'torch.LongStorage', size)
   end
   local storage = object.storage(size)
   if storage.size ~= t.nDimension then
      return false
   end
   local data = cast('int64_t*', storage.live[0])
   for d = 0, t.nDimension - 1 do
      if data[d] ~= t.size[d] then
         return false
      end
   end
   return true
end

function methods:data()
   local t = check(self)
   local pointer = elements[t.dtype].pointer
   if t.storage == nil then
      return cast(pointer, nil)
   end
   return cast(pointer, t.storage.live[0]) + t.storageOffset
end

function methods:cdata()
   local t = check(self)
   return cast(elements[t.dtype].thtensor, t)
end

-- A tensor lives as long as Lua reaches it; these are for programs that count references by hand.
function methods:retain()
   check(self)
end

function methods:free()
   check(self)
end

function methods:isTensor()
   return dtypeof[getmetatable(self)] ~= nil
end

function methods:totable()
   local t = check(self)
   local read = index.read[t.dtype]
   local function level(d, offset)
      local list = {}
      for i = 1, tonumber(t.size[d]) do
         if d == t.nDimension - 1 then
            list[i] = read(t, offset)
         else
            list[i] = level(d + 1, offset)
         end
         offset = offset + t.stride[d]
      end
      return list
   end
   local result = t.nDimension == 0 and {} or level(0, t.storageOffset)
   object.keep(self)
   return result
end

arguments.publish(methods)

-- Make a type. `access`: what makes its functions that reach elements, as torch.element does. `adapt` may make its
-- constructor of the usual one.
local function build(kind, access, adapt)
   ffi.cdef(string.format([[
      typedef struct TH%sTensor {
         int64_t *size; int64_t *stride; int nDimension; TH%sStorage *storage; ptrdiff_t storageOffset;
         int refcount; char flag;
      } TH%sTensor;]], kind.name, kind.name, kind.name))
   kind.thtensor = ffi.typeof('TH' .. kind.name .. 'Tensor*')
   local metatable = {__gc = native.collect_tensor}
   dtypeof[metatable] = kind.id
   object.metatables[kind.id] = metatable
   metatable.__index, metatable.__newindex, index.read[kind.id], index.write[kind.id] =
      access(kind, metatable, native, index.get, index.set)
   for name, method in pairs(methods) do
      metatable[name] = method
   end
   local new = construct(kind)
   new = adapt and adapt(kind, new) or new
   metatable.new = new -- t.new(3): the constructor; t:new() is a view of t
   metatable.__factory = function()
      return object.newtensor(kind.id)
   end
   metatable.__len__ = function(self)
      return self:size()
   end
   metatable.__pointer = function(self)
      return tonumber(cast('intptr_t', cast(tensorpointer, self)))
   end
   -- Another tensor over what a tensor's cdata() points to, which must be alive.
   metatable.__pushudata = function(pointer)
      local userdata = object.newtensor(kind.id)
      geometry.assign(cast(tensorpointer, userdata), cast(tensorpointer, pointer))
      return userdata
   end
   class.adopt(kind.tensortype, metatable, new)
   native.register('tensor', kind.id, metatable)
end

local function install(torch)
   for id = 0, elements.count - 1 do
      build(elements[id], object.specialise(element))
   end

   for _, name in ipairs{'data', 'cdata', 'totable'} do
      torch[name] = function(value, ...)
         local metatable = getmetatable(value)
         if not dtypeof[metatable] and not (object.storagetypeof[metatable] and metatable[name]) then
            error('obj must be a Storage or a Tensor', 2)
         end
         return metatable[name](value, ...)
      end
   end

   function torch.isTensor(value)
      return dtypeof[getmetatable(value)] ~= nil
   end

   local default = elements.Double

   function torch.getdefaulttensortype()
      return default.tensortype
   end

   -- torch.Tensor and torch.Storage become the constructors of this type.
   function torch.setdefaulttensortype(name)
      if type(name) ~= 'string' then
         error('string expected', 0)
      end
      local found = elements.named[name]
      if not found then
         error(string.format(class.classes[name] and '<%s> is not a tensor type'
            or '<%s> is not a string describing a torch object', tostring(name)), 2)
      end
      default = found
      object.default = found.id
      torch.Tensor = torch[found.name .. 'Tensor']
      torch.Storage = torch[found.name .. 'Storage']
   end
   torch.setdefaulttensortype('torch.DoubleTensor')
end

return setmetatable({build = build}, {
   __call = function(_, torch)
      install(torch)
   end
})
