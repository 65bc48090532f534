-- A small Torch7 for tests: classes and files here, tensors in tensors.lua over th.c.
torch = {}

local metatables, constructors = {}, {}

function torch.newmetatable(name, parent)
   local metatable = {__typename = name}
   metatable.__index = metatable
   metatables[name] = metatable
   return setmetatable(metatable, parent and torch.getmetatable(parent))
end

function torch.getmetatable(name)
   return metatables[name]
end

function torch.getconstructortable(name)
   return constructors[name]
end

-- An object of a class without its constructor having been called.
function torch.factory(name)
   return function() return setmetatable({}, metatables[name]) end
end

-- Enter what makes objects of a class under its name, as "nn.Linear" has it, or into a module.
function torch.enter(name, constructor, module)
   local package, short = name:match('^(%w+)%.(%w+)$')
   _G[package] = _G[package] or {}
   constructors[name] = constructor
   rawset(module or _G[package], short, constructor)
end

function torch.class(name, parent, module)
   local class = torch.newmetatable(name, parent)
   torch.enter(name, setmetatable({}, {
      __index = class,
      __newindex = class,
      __call = function(_, ...)
         local object = setmetatable({}, class)
         object:__init(...)
         return object
      end,
   }), module)
   return class, parent and torch.getmetatable(parent)
end

function torch.typename(object)
   local metatable = debug.getmetatable(object)
   return type(object) ~= 'string' and type(metatable) == 'table' and rawget(metatable, '__typename') or nil
end

function torch.type(object)
   return torch.typename(object) or type(object)
end

function torch.isTypeOf(object, name)
   local metatable = torch.typename(object) and debug.getmetatable(object)
   while metatable do
      if metatable.__typename == name then
         return true
      end
      metatable = getmetatable(metatable)
   end
   return false
end

function torch.isTensor(object)
   return (torch.typename(object) or ''):match('^torch%.%a+Tensor$') ~= nil
end

function torch.isStorage(object)
   return (torch.typename(object) or ''):match('^torch%.%a+Storage$') ~= nil
end

local default

function torch.getdefaulttensortype() return default end

function torch.setdefaulttensortype(name)
   default = name
   torch.Tensor = torch[name:match('%w+$')]
end

local library = require 'libtorch'

torch.updateerrorhandlers = library.updateerrorhandlers

function torch.setheaptracking(wanted)
   torch._heaptracking = wanted
   library.setheaptracking(wanted)
end

-- For a state that goes to another thread.
function torch.updatethreadlocals()
   torch.updateerrorhandlers()
   torch.setheaptracking(torch._heaptracking or false)
end

torch.updateerrorhandlers()
torch.setheaptracking(true)

require 'torch.tensors'
require 'torch.operations'
require 'torch.file'

torch.setdefaulttensortype('torch.DoubleTensor')

return torch
