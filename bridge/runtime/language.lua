-- The language that Torch7 programs were written in, LuaJIT with additions of Lua 5.2, on a LuaJIT without them.
--
-- Requiring this file installs everything; it must be done before a program is loaded. `language.load(code, chunkname,
-- mode, env)` compiles other source by the same rules.
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
