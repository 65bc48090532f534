-- What `th` adds to a state: Torch's packages as globals, `arg`, print that shows tables, and ways to run code.
local language = require 'bridge.lua.language'
local ffi = require 'ffi'

ffi.cdef[[int fflush(void *stream);]]

local DEPTH = 5 -- of nested tables shown

local th = {}

-- A table, a line for each field; inner tables further in.
local function show(write, object, depth)
   local indent = string.rep(' ', depth * 4)
   write(indent .. '{\n')
   for key, value in pairs(object) do
      local name = indent .. '  ' .. tostring(key) .. ' : '
      if type(value) ~= 'table' or (getmetatable(value) or {}).__tostring then
         write(name .. tostring(value) .. '\n')
      elseif depth >= DEPTH or next(value) == nil then
         write(name .. '{...}\n')
      else
         write(name .. '\n')
         show(write, value, depth + 1)
      end
   end
   write(indent .. '}\n')
end

-- Tables field by field, everything else as ever; numbers and strings of one call on one line.
local function printer(write)
   return function(...)
      local n = select('#', ...)
      local line = {}
      local function finish()
         if #line > 0 then
            write(table.concat(line, '\t') .. '\n')
            line = {}
         end
      end
      for i = 1, n do
         local object = select(i, ...)
         local metatable = getmetatable(object)
         if type(object) == 'table' and not (type(metatable) == 'table' and metatable.__tostring) then
            finish()
            show(write, object, 0)
         elseif type(object) == 'string' or type(object) == 'number' then
            line[#line + 1] = tostring(object)
         else
            line[#line + 1] = tostring(object)
            if type(object) == 'userdata' or type(object) == 'cdata' then
               finish()
            end
         end
      end
      finish()
      if n == 0 then
         write('\n')
      end
   end
end

-- Make this state what a Torch program finds at its start. `leave` ends the process at once.
function th.start(leave)
   package.path = package.path .. ';./?/init.lua'
   for _, name in ipairs{'torch', 'paths', 'sys', 'xlua'} do
      if package.searchpath(name, package.path) or package.preload[name] then
         _G[name] = require(name)
      end
   end
   print = printer(function(text) io.stdout:write(text) end)
   function os.exit(code)
      if code == nil or code == true then
         code = 0
      end
      ffi.C.fflush(nil)
      leave(tonumber(code) or 1)
   end
end

-- `arg` as the script sees it: the script's name at 0, its arguments from 1.
function th.arguments(script, ...)
   rawset(_G, 'arg', {[-1] = 'th', [0] = script, ...})
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

local function shown(...)
   if select('#', ...) > 0 then
      print(...)
   end
end

-- One entry of the interactive mode: the values of an expression are shown, statements run. True: it goes on in the
-- next line.
function th.entry(source)
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

return th
