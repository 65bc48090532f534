-- The fbnn package: programs require it for layers that nn took in, under names of its own.
require 'nn'

fbnn = fbnn or {}
package.loaded.fbnn = fbnn

fbnn.SpatialBatchNormalization = nn.SpatialBatchNormalization

return fbnn
