-- The cunn package: nn computes on CUDA tensors as it is, so what is left is the container that spreads a batch.
require 'cutorch'
require 'nn'

cunn = cunn or {}
package.loaded.cunn = cunn

require 'cunn.DataParallelTable'

return cunn
