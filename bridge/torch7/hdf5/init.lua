-- The hdf5 package: torch-hdf5's names over h5py.
--
-- hdf5.open(path, mode) gives a file; file:read('/a/b') a group or a dataset; dataset:all() a tensor,
-- dataset:partial({from, to}, ...) a part of it; file:write('/a/b', tensor or table) writes.
require 'torch'
require 'hdf5.python'('require')

hdf5 = hdf5 or {}
package.loaded.hdf5 = hdf5

require 'hdf5.DataSetOptions'
require 'hdf5.HDF5DataSet'
require 'hdf5.HDF5Group'
require 'hdf5.HDF5File'

hdf5.open = hdf5.HDF5File.open

return hdf5
