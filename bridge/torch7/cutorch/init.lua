-- The cutorch package: Torch7's names for GPUs. What stands behind them is a backend, a row of `backends`.
--
-- Where torch has GPUs, they are the devices. Else there is none: cutorch.getDeviceCount() is 0, and what needs a
-- device says so. MOONTIDE_CUDA=cpu gives one device that is the CPU: programs written for a GPU run unmodified, on
-- tensors in host memory. MOONTIDE_CUDA=aten is for checking the code for GPUs without one: it runs on the CPU as
-- torch's device, and reaching for the memory of a tensor but by torch is an error. MOONTIDE_CUDA=none hides the GPUs.
local native = require 'bridge.native'
require 'torch'

cutorch = cutorch or {}
_G.cutorch = cutorch
package.loaded.cutorch = cutorch
if cutorch.getDeviceCount then -- made for another package, which took its name back
   return cutorch
end

local backends = {
   cpu = function() return require 'cutorch.cpu' end,
   none = function() return require 'cutorch.none' end,
   aten = function() return require('cutorch.device')('cpu') end,
   [''] = function()
      local found = native.python and native.python('cutorch.count', 'cuda') or 0
      return found > 0 and require('cutorch.device')('cuda') or require 'cutorch.none'
   end,
}

local chosen = os.getenv('MOONTIDE_CUDA') or ''
if not backends[chosen] then
   package.loaded.cutorch = nil
   error(string.format("MOONTIDE_CUDA is 'cpu' (GPU programs run on the CPU), 'none' (no GPU is used), 'aten' (for " ..
      "checking) or not set, got '%s'", chosen), 0)
end
local backend = backends[chosen]()

cutorch.hasHalf = true
cutorch.hasHalfInstructions = false
cutorch.hasFastHalfInstructions = false
cutorch.magma = backend.count > 0 -- LAPACK's functions
cutorch.isCachingAllocatorEnabled = function()
   return false
end

backend.install(torch)
require('cutorch.devices')(cutorch, backend)
require('cutorch.streams')(cutorch, backend)
require(backend.generators)(cutorch, backend)

return cutorch
