-- The dok package: arguments by name or by position, and their help; xlua has the same.
local xlua = require 'xlua'

dok = dok or {}
package.loaded.dok = dok

dok.inline = true
dok.unpack = xlua.unpack
dok.usage = xlua.usage
dok.error = xlua.error

return dok
