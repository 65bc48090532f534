-- The Lua that Torch7 programs were written for: LuaJIT with Lua 5.2's additions, on a LuaJIT without them.
--
-- Requiring this once, before any program is loaded, puts everything in place. `language.load(code, chunkname, mode,
-- env)` compiles source that comes from elsewhere under the same rules.
local hash = require 'bridge.runtime.hash'
local compat = require 'bridge.runtime.compat'
local loaders = require 'bridge.runtime.loaders'
local scope = require 'bridge.runtime.scope'

local language = loaders.new(hash.rewrite)

compat.install(require('bridge.native').main_thread)
require('bridge.runtime.format')()
debug.getmetatable('').__call = hash.call
load, loadstring, loadfile, dofile = language.load, language.loadstring, language.loadfile, language.dofile
package.loaders[2] = language.searcher
table.insert(package.loaders, require 'bridge.runtime.absent')
scope.capture()

return language
