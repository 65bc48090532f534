-- A dataset of a file: numbers in some dimensions, read when they are asked for.
local python = require 'hdf5.python'

local HDF5DataSet = torch.class('hdf5.HDF5DataSet')

function HDF5DataSet:__init(parent, handle)
   self._parent = parent
   self._handle = handle
end

-- The tensor with all numbers; its type is that of the numbers in the file.
function HDF5DataSet:all()
   return python('read', self._handle)
end

-- For each dimension {first, last}, or one index; the part keeps all dimensions.
local function ranges(list)
   local made = {}
   for i, range in ipairs(list) do
      if type(range) ~= 'table' then
         range = {range, range}
      end
      if type(range[1]) ~= 'number' or type(range[2]) ~= 'number' then
         error(string.format('hdf5: range %d must be a number or {first, last}', i), 3)
      end
      made[i] = {range[1], range[2]}
   end
   return made
end

function HDF5DataSet:partial(...)
   return python('read', self._handle, ranges{...})
end

-- Write a tensor over the part that begins at the given indices.
function HDF5DataSet:write(tensor, ...)
   local first, list = {...}, {}
   if #first ~= tensor:nDimension() then
      error(string.format('hdf5: dimension mismatch: the tensor has %d dimensions, %d indices were given',
         tensor:nDimension(), #first), 2)
   end
   for d, index in ipairs(first) do
      list[d] = {index, index + tensor:size(d) - 1}
   end
   python('assign', self._handle, tensor, list)
   return self
end

-- The sizes, as a table.
function HDF5DataSet:dataspaceSize()
   return python('size', self._handle)
end

function HDF5DataSet:close()
   self._handle = nil
end

function HDF5DataSet:__tostring()
   return string.format('[HDF5DataSet %s]', table.concat(self:dataspaceSize(), 'x'))
end
