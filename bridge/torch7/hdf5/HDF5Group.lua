-- A group of a file: datasets and groups by name.
local python = require 'hdf5.python'

local HDF5Group = torch.class('hdf5.HDF5Group')

function HDF5Group:__init(parent, handle)
   self._parent = parent
   self._handle = handle
   self._children = {}
   for _, child in ipairs(python('children', handle)) do
      local name, inner, isgroup = unpack(child)
      self._children[name] = (isgroup and hdf5.HDF5Group or hdf5.HDF5DataSet)(self, inner)
   end
end

-- The object at a list of names.
function HDF5Group:read(names)
   local object = self
   for _, name in ipairs(names) do
      local child = torch.isTypeOf(object, 'hdf5.HDF5Group') and object._children[name]
      if not child then
         error(string.format("HDF5Group:read() - no such child '%s' for %s", name, tostring(object)), 3)
      end
      object = child
   end
   return object
end

function HDF5Group:createChild(name)
   local child = hdf5.HDF5Group(self, python('create_group', self._handle, name))
   self._children[name] = child
   return child
end

function HDF5Group:getOrCreateChild(name)
   return self._children[name] or self:createChild(name)
end

-- Write a tensor, or a table of what can be written, at a list of names; groups on the way are made.
function HDF5Group:write(names, data, options)
   local name = names[1]
   if #names > 1 then
      return self:getOrCreateChild(name):write({unpack(names, 2)}, data, options)
   elseif torch.type(data) == 'table' then
      local child = self:getOrCreateChild(name)
      for key, value in pairs(data) do
         child:write({tostring(key)}, value, options)
      end
   elseif torch.isTensor(data) then
      self._children[name] = hdf5.HDF5DataSet(self, python('write', self._handle, name, data,
         options and options._chunking, options and options._deflate))
   else
      error(string.format("torch-hdf5: writing data of type %s is not supported ('%s')", torch.type(data), name), 0)
   end
end

-- All tensors, in tables as the groups are.
function HDF5Group:all()
   local list = {}
   for name, child in pairs(self._children) do
      list[name] = child:all()
   end
   return list
end

function HDF5Group:close()
   for _, child in pairs(self._children) do
      child:close()
   end
   self._handle = nil
end

function HDF5Group:__tostring()
   local count = 0
   for _ in pairs(self._children) do
      count = count + 1
   end
   return string.format('[HDF5Group of %d object%s]', count, count == 1 and '' or 's')
end
