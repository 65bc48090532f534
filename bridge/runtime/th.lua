-- What the command `th` adds to a state: the trepl package, `arg`, an os.exit that ends the process, and ways to run
-- code.
local language = require 'bridge.runtime.language'
local complete = require 'bridge.runtime.complete'
local native = require 'bridge.native'
local ffi = require 'ffi'

ffi.cdef[[int fflush(void *stream);]]

local th = {}

-- Prepare this state as the original `th` does before it runs a program. `leave` ends the process at once.
function th.start(leave)
   package.path = package.path .. ';./?/init.lua'
   require 'trepl'
   native.leave = leave -- os.exit calls it in the program's threads too
   function os.exit(code)
      if code == nil or code == true then
         code = 0
      end
      ffi.C.fflush(nil)
      leave(tonumber(code) or 1)
   end
end

-- Set `arg`: the script's name at 0, its arguments from 1 on, the words of the command line before it below 0.
function th.arguments(script, before, ...)
   local arg = {[0] = script, ...}
   for i = 1, #before do
      arg[i - #before - 1] = before[i]
   end
   rawset(_G, 'arg', arg)
end

function th.library(name)
   local loaded = require(name)
   if type(name) == 'string' and name:find('^[%a_][%w_]*$') and rawget(_G, name) == nil and loaded ~= true then
      rawset(_G, name, loaded)
   end
end

-- Report new globals: print them or, if strict, raise an error.
function th.monitor(strict)
   rawget(_G, 'monitor_G')(strict or nil)
end

local function run(chunk, message, ...)
   if not chunk then
      error(message, 0)
   end
   return chunk(...)
end

function th.script(name, ...)
   local chunk, message = language.loadfile(name)
   return run(chunk, message, ...)
end

function th.code(source, name, ...)
   local chunk, message = language.load(source, name)
   return run(chunk, message, ...)
end

function th.entry(source)
   ffi.C.fflush(nil)
   return require('trepl.entry')(source)
end

th.complete = complete

return th
