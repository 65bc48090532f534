-- A small Torch7 for tests: classes and files here, tensors in tensors.lua over th.c.
local ffi = require 'ffi'

torch = {}

local metatables = {}

function torch.newmetatable(name, parent)
   local metatable = {__typename = name}
   metatable.__index = metatable
   metatables[name] = metatable
   return setmetatable(metatable, parent and torch.getmetatable(parent))
end

function torch.getmetatable(name)
   return metatables[name]
end

local function split(name)
   return name:match('^(%w+)%.(%w+)$')
end

-- Enter something under a name as "nn.Linear" has it.
function torch.enter(name, value)
   local package, short = split(name)
   _G[package] = _G[package] or {}
   _G[package][short] = value
end

function torch.class(name, parent)
   local class = torch.newmetatable(name, parent)
   torch.enter(name, setmetatable({}, {
      __index = class,
      __newindex = class,
      __call = function(_, ...)
         local object = setmetatable({}, class)
         object:__init(...)
         return object
      end,
   }))
   return class, parent and torch.getmetatable(parent)
end

-- What `nn.Linear` is.
function torch.getconstructortable(name)
   local package, short = split(name)
   return _G[package][short]
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

-- What tells objects apart: a struct's address, or a table's.
function torch.pointer(object)
   return torch.isTensor(object) and tonumber(ffi.cast('intptr_t', object:cdata()))
      or tonumber(tostring(object):match('0x(%x+)'), 16)
end

function torch.data(tensor)
   return tensor:data()
end

function torch.setdefaulttensortype(name)
   torch.Tensor = torch[name:match('%w+$')]
end

function torch.getdefaulttensortype()
   return torch.Tensor():type()
end

require 'torch.tensors'
require 'torch.operations'
require 'torch.file'

torch.setdefaulttensortype('torch.DoubleTensor')

return torch
