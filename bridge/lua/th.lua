-- What `th` adds to a state: Torch's packages as globals, `arg`, print that shows tables, and ways to run code.
local language = require 'bridge.lua.language'
local show = require 'bridge.lua.show'
local complete = require 'bridge.lua.complete'
local native = require 'bridge.native'
local ffi = require 'ffi'

ffi.cdef[[int fflush(void *stream);]]

local th = {}

local function write(text)
   io.stdout:write(text)
end

-- The file that a name like './model' or '../data/load' means in the file `source`; nil if there is none.
local function beside(name, source)
   local folder = source:match('^@(.*/)') or ''
   for _, suffix in ipairs{'.lua', '', '/init.lua'} do
      local path = folder .. name .. suffix
      local file = io.open(path, 'rb')
      if file then
         local readable = file:read(0) ~= nil or file:seek('end') == 0 -- a folder opens too, but does not read
         file:close()
         if readable then
            return path
         end
      end
   end
end

-- Make this state what a Torch program finds at its start. `leave` ends the process at once.
function th.start(leave)
   package.path = package.path .. ';./?/init.lua'
   for _, name in ipairs{'torch', 'paths', 'sys', 'xlua', 'pl'} do -- pl brings its modules as globals
      if package.searchpath(name, package.path) or package.preload[name] then
         local loaded = require(name)
         rawset(_G, name, loaded ~= true and loaded or rawget(_G, name))
      end
   end
   function print(...)
      show.values(write, false, ...)
   end
   -- What begins with a dot is looked for beside the file that requires it, and run each time, as trepl does.
   local named = require
   function require(name)
      local caller = type(name) == 'string' and name:sub(1, 1) == '.' and debug.getinfo(2, 'S')
      local file = caller and beside(name, caller.source)
      if file then
         return dofile(file)
      end
      return named(name)
   end
   -- How deep print shows tables.
   rawset(_G, 'setprintlevel', function(depth)
      if type(depth) ~= 'number' or depth < 0 then
         error('setprintlevel: expected a number that is not negative, got ' .. tostring(depth), 2)
      end
      show.depth = math.floor(depth)
   end)
   native.leave = leave -- also what os.exit does in the program's threads
   function os.exit(code)
      if code == nil or code == true then
         code = 0
      end
      ffi.C.fflush(nil)
      leave(tonumber(code) or 1)
   end
end

-- `arg` as the script sees it: the script's name at 0, its arguments from 1, what stood before it below 0.
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

local last -- what this put into the global _

-- The values of an entry: shown, and the first of them kept as _RESULT, _LAST, and _ unless the program uses that name.
local function shown(...)
   if select('#', ...) == 0 then
      return
   end
   show.values(write, true, ...)
   local first = ...
   rawset(_G, '_RESULT', first)
   rawset(_G, '_LAST', first)
   if rawequal(rawget(_G, '_'), last) then
      rawset(_G, '_', first)
      last = first
   end
end

-- One entry of the interactive mode: the values of an expression are shown, statements run, `$` runs a command of the
-- shell. True: it goes on in the next line.
function th.entry(source)
   local command = source:match('^%s*%$(.*)')
   if command then
      ffi.C.fflush(nil)
      os.execute(command)
      return false
   end
   local chunk = language.load('(...)(' .. source .. '\n)', '=stdin')
   local message
   if not chunk then
      chunk, message = language.load(source, '=stdin')
   end
   if chunk then
      chunk(shown)
      return false
   elseif message:find("'<eof>'$") then
      return true
   end
   error(message, 0)
end

th.complete = complete

return th
