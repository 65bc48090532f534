-- This machine as the one device: its memory, and what cutorch.getDeviceProperties tells of it.
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

local machine = {memory = memory}

function machine.properties()
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

return machine
