-- The cutorch package: Torch7's names for GPUs. What stands behind them is a backend, a row of `backends`.
--
-- MOONTIDE_CUDA=cpu gives one device that is the CPU: programs written for a GPU run unmodified. Without it there is no
-- device: cutorch.getDeviceCount() is 0, and what needs a device says so.
require 'torch'

cutorch = cutorch or {}
package.loaded.cutorch = cutorch

local backends = {
   cpu = 'cutorch.cpu',
   none = 'cutorch.none',
}

local chosen = os.getenv('MOONTIDE_CUDA') or ''
local backend = backends[chosen == '' and 'none' or chosen]
if not backend or chosen == 'none' then
   package.loaded.cutorch = nil
   error(string.format("MOONTIDE_CUDA is 'cpu' (GPU programs run on the CPU) or not set, got '%s'", chosen), 0)
end
backend = require(backend)

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
require('cutorch.generators')(cutorch, backend)

return cutorch
