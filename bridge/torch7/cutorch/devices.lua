-- Devices: how many there are, which is meant, what they are and how much memory is free.
local ffi = require 'ffi'

return function(cutorch, backend)
   local current = backend.count > 0 and 1 or 0

   local function device(name, id)
      if backend.count == 0 then
         backend.refuse('cutorch.' .. name)
      elseif type(id) ~= 'number' then
         error(string.format("bad argument #1 to '%s' (number expected, got %s)", name,
            id == nil and 'no value' or type(id)), 3)
      elseif id < 1 or id > backend.count or id ~= math.floor(id) then
         error(string.format('cuda runtime error (10) : invalid device ordinal: cutorch.%s(%g), there %s %d device%s',
            name, id, backend.count == 1 and 'is' or 'are', backend.count, backend.count == 1 and '' or 's'), 3)
      end
      return id
   end
   cutorch._device = device

   function cutorch.getDeviceCount()
      return backend.count
   end

   function cutorch.setDevice(id)
      current = device('setDevice', id)
      backend.select(id)
   end

   function cutorch.getDevice()
      return current
   end

   -- Call a function with another device; what it returns.
   function cutorch.withDevice(id, f, ...)
      local before = current
      cutorch.setDevice(id)
      local function restore(ok, ...)
         cutorch.setDevice(before)
         if not ok then
            error((...), 0)
         end
         return ...
      end
      return restore(pcall(f, ...))
   end

   -- Bytes: free, all.
   function cutorch.getMemoryUsage(id)
      if id ~= nil or backend.count == 0 then
         device('getMemoryUsage', id)
      end
      return backend.memory(id)
   end

   function cutorch.getDeviceProperties(id)
      device('getDeviceProperties', id)
      return backend.properties(id)
   end

   -- Wait until the current device has done all that it was given.
   function cutorch.synchronize()
      if backend.count == 0 then
         backend.refuse('cutorch.synchronize')
      end
      backend.synchronize()
   end
   cutorch.deviceReset = cutorch.synchronize

   function cutorch.synchronizeAll()
      if backend.count == 0 then
         backend.refuse('cutorch.synchronizeAll')
      end
      for id = 1, backend.count do
         backend.synchronize(id)
      end
   end

   -- Does a device reach the memory of another? torch settles that by itself, so there is nothing to turn on.
   function cutorch.getPeerToPeerAccess(from, to)
      return backend.peers(device('getPeerToPeerAccess', from), device('getPeerToPeerAccess', to))
   end

   function cutorch.setPeerToPeerAccess(from, to)
      device('setPeerToPeerAccess', from)
      device('setPeerToPeerAccess', to)
   end

   local kernelaccess = false
   function cutorch.setKernelPeerToPeerAccess(access)
      kernelaccess = access and true or false
   end

   function cutorch.getKernelPeerToPeerAccess()
      return kernelaccess
   end

   -- A CPU tensor; copies to and from a device take any memory, pinned or not.
   local function host(typename, ...)
      return torch.getconstructortable(typename)(...)
   end

   for _, name in ipairs{'Byte', 'Char', 'Short', 'Int', 'Long', 'Half', 'Float', 'Double'} do
      cutorch['createCudaHost' .. name .. 'Tensor'] = function(...)
         return host('torch.' .. name .. 'Tensor', ...)
      end
   end

   function cutorch.createCudaHostTensor(...)
      if type((...)) == 'string' then
         return host(...)
      end
      local default = torch.getdefaulttensortype()
      return host(default:find('Cuda') and 'torch.FloatTensor' or default, ...)
   end

   -- CUDA's versions; none without a device.
   cutorch.driverVersion = backend.count > 0 and backend.version() or 0
   cutorch.runtimeVersion = cutorch.driverVersion

   function cutorch.getDriverVersion()
      return cutorch.driverVersion
   end

   function cutorch.getRuntimeVersion()
      return cutorch.runtimeVersion
   end

   local state = ffi.new('char[1]') -- what stands for THC's state: an address of our own
   cutorch._state = ffi.cast('void *', state)

   function cutorch.getState()
      return cutorch._state, state
   end
end
