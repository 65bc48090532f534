-- The cunn package: nn computes on CUDA tensors as it is, so what is left is the container that spreads a batch.
--
-- Without a GPU it refuses to load, as programs ask `pcall(require, 'cunn')` whether there is one and else stay on the
-- CPU. Its classes are there by then: files that hold them load, and `dpt:get(1)` is the network for any machine.
require 'cutorch'
require 'nn'
require 'cunn.DataParallelTable'

if cutorch.getDeviceCount() == 0 then
   package.loaded.cunn = nil -- the next one to ask is refused with the same words
   error("cunn needs a GPU: there is no GPU here that torch can use. Set MOONTIDE_CUDA=cpu in the environment to " ..
      "run GPU programs on the CPU, or turn the GPU option of the program off. (Files with nn.DataParallelTable " ..
      "load after pcall(require, 'cunn'); dpt:get(1) is the network.)", 0)
end

cunn = cunn or {}
package.loaded.cunn = cunn

return cunn
