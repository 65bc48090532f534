-- The paths package: names of files and directories, and the files themselves.
local concat = require 'paths.concat'
local posix = require 'paths.posix'

local paths = {}
_G.paths = paths
package.loaded.paths = paths

-- The working directory; '.' if it is gone.
function paths.cwd()
   return posix.cwd() or '.'
end

function paths.concat(...)
   return concat(paths.cwd(), ...)
end

require('paths.names')(paths)
require('paths.directories')(paths)
require('paths.system')(paths)
require('paths.modules')(paths)

return paths
