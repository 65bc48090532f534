-- An open file; its root is a group.
local python = require 'hdf5.python'

local HDF5File = torch.class('hdf5.HDF5File')

local MODES = {a = 'a', r = 'r', ['r+'] = 'r+', w = 'w', ['w-'] = 'w-'}

-- Modes: 'r' read; 'r+' read and write; 'w' make anew; 'w-' make, unless it exists; 'a' (default) write or make.
function HDF5File.open(filename, mode)
   if type(filename) ~= 'string' then
      error('hdf5.open: expected the name of a file, got ' .. torch.type(filename), 2)
   elseif mode ~= nil and not MODES[mode] then
      error(string.format("Unknown mode '%s' for hdf5.open()", tostring(mode)), 2)
   end
   return hdf5.HDF5File(filename, python('open_file', filename, mode or 'a'))
end

function HDF5File:__init(filename, handle)
   self._filename = filename
   self._handle = handle
   self._rootGroup = hdf5.HDF5Group(self, handle)
end

function HDF5File:filename()
   return self._filename
end

local function names(self, path)
   if not self._handle then
      error(string.format('hdf5: the file %s is closed', self._filename), 3)
   end
   local list = {}
   for name in (path or '/'):gmatch('[^/]+') do
      list[#list + 1] = name
   end
   return list
end

function HDF5File:read(path)
   return self._rootGroup:read(names(self, path))
end

function HDF5File:all()
   return self:read('/'):all()
end

function HDF5File:write(path, data, options)
   local list = names(self, path)
   if #list > 0 then
      self._rootGroup:write(list, data, options)
      return
   elseif torch.type(data) ~= 'table' then
      error('HDF5File:write() - must provide a table when writing to the root location', 2)
   end
   for key, value in pairs(data) do
      self._rootGroup:write({tostring(key)}, value, options)
   end
end

function HDF5File:close()
   if self._handle then
      self._rootGroup:close()
      python('close', self._handle)
      self._handle = nil
   end
end

function HDF5File:__tostring()
   return string.format('[HDF5File: %s]', self._filename)
end
