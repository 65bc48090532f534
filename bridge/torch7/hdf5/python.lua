-- The functions of Python behind this package. What they raise is an error of Lua that names the package.
local native = require 'bridge.native'

return function(name, ...)
   if not native.python then
      error("hdf5: files are read by Python's h5py, which this state has no way to", 3)
   end
   local ok, result = pcall(native.python, 'hdf5.' .. name, ...)
   if not ok then
      error('hdf5: ' .. tostring(result):gsub('^%w+: ', ''), 3)
   end
   return result
end
