-- The env package: Torch7's environment for programs that plain Lua runs. It is in place here already.
require 'torch'
require 'xlua'
require 'paths'

return {}
