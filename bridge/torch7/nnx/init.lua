-- The nnx package: nn took in what programs use of it, so that nothing is left to add.
require 'nn'
require 'xlua'

nnx = nnx or {}
package.loaded.nnx = nnx

return nnx
