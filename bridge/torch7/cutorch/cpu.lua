-- The backend whose one device is the CPU: CUDA tensors are tensors of the CPU with names of their own.
local native = require 'bridge.native'
local class = require 'torch.class'
local elements = require 'torch.elements'
local object = require 'torch.object'
local index = require 'torch.index'
local construct = require 'torch.construct'
local element = require 'torch.element'
local operations = require 'torch.operations'
local types = require 'cutorch.types'
local machine = require 'cutorch.machine'
local retag = require 'cutorch.retag'
local conversions = require 'cutorch.conversions'
local functions = require 'cutorch.functions'
local half = require 'cutorch.half'

local cpu = {
   count = 1,
   generators = 'cutorch.generators',
   streams = require 'cutorch.idle',
   memory = machine.memory,
   properties = machine.properties,
}

-- There is one device, and its work is done when the call returns.
local function nothing()
end
cpu.select, cpu.synchronize = nothing, nothing

function cpu.peers()
   return true
end

function cpu.version()
   return 8000 -- as of CUDA 8.0
end

function cpu.refuse(what)
   error(what .. ' is not there', 3)
end

-- Names that a class has for itself, which must not come from another.
local own = {__typename = true, __metatable = true, __constructor = true, __index = true, __newindex = true,
   __version = true, new = true}

-- Give a class the methods of another; `change(name, method)` makes them its own.
local function inherit(metatable, base, change)
   for name, method in next, base do
      if not own[name] then
         metatable[name] = type(method) == 'function' and change(name, method) or method
      end
   end
end

-- Methods whose results stay what they are: LongStorages of sizes, numbers, pointers.
local plain = {size = true, stride = true, totable = true, data = true, cdata = true, type = true}

-- Text that ends with the type's own name.
local function renamed(method, from, to)
   return function(self)
      local text = method(self)
      local at = text:find('[' .. from .. ' ', 1, true)
      return at and text:sub(1, at) .. to .. text:sub(at + 1 + #from) or text
   end
end

local function tensors(kind, more)
   local id, base = kind.id, object.metatables[kind.id]
   local described = setmetatable({tensortype = kind.tensortype, storagetype = kind.storagetype},
      {__index = kind.element})
   local metatable = {}
   inherit(metatable, base, function(name, method)
      if plain[name] or name:sub(1, 2) == '__' and name:sub(-2) ~= '__' then
         return method
      end
      return retag.wrap(method)
   end)
   for name, method in pairs(more) do
      metatable[name] = retag.wrap(method)
   end
   metatable.__tostring__ = renamed(base.__tostring__, kind.element.tensortype, kind.tensortype)
   metatable.__len__ = base.__len__
   metatable.__index, metatable.__newindex = object.specialise(element)(described, metatable, native,
      retag.wrap(index.get), index.set)
   local make = construct(described)
   metatable.new = retag.wrap(function(...)
      local first = ...
      if select('#', ...) == 1 and class.name(getmetatable(first)) == kind.storagetype then
         return make():set(first) -- memory also where a torch.LongStorage would be sizes
      end
      return make(...)
   end)
   metatable.__factory = retag.wrap(base.__factory)
   metatable.getDevice = function()
      return 1
   end
   object.dtypeof[metatable] = id
   retag.twins[base] = metatable
   class.adopt(kind.tensortype, metatable, metatable.new)
   native.register('cuda tensor', id, metatable)
end

local function storages(kind)
   local base = object.storagemetatables[kind.id]
   local metatable = {}
   local function tag(storage)
      debug.setmetatable(storage, metatable) -- returns no object here
      return storage
   end
   inherit(metatable, base, function(_, method)
      return method
   end)
   metatable.__tostring__ = renamed(base.__tostring__, kind.element.storagetype, kind.storagetype)
   function metatable.__index(self, key)
      if type(key) == 'number' then
         return base.__index(self, key)
      end
      return metatable[key]
   end
   metatable.__newindex = base.__newindex
   function metatable.new(...)
      return tag(base.new(...))
   end
   function metatable.__factory()
      return tag(base.__factory())
   end
   function metatable.type(self, name)
      if name == nil or name == kind.storagetype then
         return name and self or kind.storagetype
      end
      return torch.getconstructortable(name)(self:size()):copy(self)
   end
   metatable.getDevice = function()
      return 1
   end
   object.storagetypeof[metatable] = kind.id
   class.adopt(kind.storagetype, metatable, metatable.new)
   native.register('cuda storage', kind.id, metatable)
   local tensor = retag.twins[object.metatables[kind.id]]
   local storage = object.metatables[kind.id].storage
   function tensor:storage()
      local found = storage(self)
      return found and tag(found)
   end
end

function cpu.install(torch)
   local halves, methods = operations.halves()
   for name, method in pairs(half(object.metatables[elements.Float.id])) do
      methods[name] = method
   end
   for id = 0, elements.count - 1 do
      tensors(types[id], id == elements.Half.id and methods or {})
   end
   for id = 0, elements.count - 1 do
      storages(types[id])
   end
   conversions(torch)
   functions(torch, halves)
end

return cpu
