-- Devices: how many there are, which is meant, what they are and how much memory is free.
local ffi = require 'ffi'

-- Bytes of memory of this machine: free, all.
local function memory()
   local free, total = 0, 0
   local file = io.open('/proc/meminfo')
   if file then
      for line in file:lines() do
         local name, kilobytes = line:match('^(%w+):%s+(%d+) kB')
         if name == 'MemTotal' then
            total = tonumber(kilobytes) * 1024
         elseif name == 'MemAvailable' then
            free = tonumber(kilobytes) * 1024
         end
      end
      file:close()
   end
   return free, total
end

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
   end

   function cutorch.getDevice()
      return current
   end

   -- Call a function with another device; what it returns.
   function cutorch.withDevice(id, f, ...)
      local before = current
      cutorch.setDevice(id)
      local function restore(ok, ...)
         current = before
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
      return memory()
   end

   function cutorch.getDeviceProperties(id)
      device('getDeviceProperties', id)
      local free, total = memory()
      return {
         name = 'CPU (MOONTIDE_CUDA=cpu)', major = 0, minor = 0, totalGlobalMem = total, freeGlobalMem = free,
         sharedMemPerBlock = 49152, regsPerBlock = 65536, warpSize = 32, memPitch = 2 ^ 31 - 1,
         maxThreadsPerBlock = 1024, maxThreadsDim = {1024, 1024, 64}, maxGridSize = {2 ^ 31 - 1, 65535, 65535},
         clockRate = 0, totalConstMem = 65536, textureAlignment = 512, deviceOverlap = 1, multiProcessorCount = 1,
         kernelExecTimeoutEnabled = 0, integrated = 1, canMapHostMemory = 1, computeMode = 0, concurrentKernels = 1,
         ECCEnabled = 0, pciBusID = 0, pciDeviceID = 0, pciDomainID = 0, tccDriver = 0, asyncEngineCount = 0,
         unifiedAddressing = 1, memoryClockRate = 0, memoryBusWidth = 0, l2CacheSize = 0,
         maxThreadsPerMultiProcessor = 2048,
      }
   end

   -- All work of the CPU is done when its call returns.
   function cutorch.synchronize()
      if backend.count == 0 then
         backend.refuse('cutorch.synchronize')
      end
   end
   cutorch.synchronizeAll = cutorch.synchronize
   cutorch.deviceReset = cutorch.synchronize

   -- A device reaches its own memory, and there is no other to reach.
   local function peers(name)
      return function(from, to)
         device(name, from)
         device(name, to)
         return from == to
      end
   end
   cutorch.getPeerToPeerAccess = peers('getPeerToPeerAccess')

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

   -- A CPU tensor; the memory of this device needs no pinning.
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

   -- CUDA's versions, as in CUDA 8.0; none without a device.
   cutorch.driverVersion = backend.count > 0 and 8000 or 0
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
