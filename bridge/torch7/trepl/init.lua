-- The trepl package: what th adds to Lua. print shows tables, `require './name'` looks beside the file, and the global
-- names can be listed, imported and watched. It returns the interactive mode, as a function.
for _, name in ipairs{'torch', 'paths', 'sys', 'xlua', 'dok', 'pl'} do -- pl brings its modules as globals
   if package.searchpath(name, package.path) or package.preload[name] then
      local loaded = require(name)
      rawset(_G, name, loaded ~= true and loaded or rawget(_G, name))
   end
end
if package.loaded.pl then
   require('pl.text').format_operator() -- '%d' % 5
end
local colors = require 'trepl.colors'
local printing = require 'trepl.print'
local beside = require 'trepl.beside'
local globals = require 'trepl.globals'
local entry = require 'trepl.entry'

local function define(name, value)
   rawset(_G, name, value)
end

define('noColors', function()
   for name in pairs(colors) do
      colors[name] = ''
   end
end)
if not torch.isatty(io.stdout) or (os.getenv('TERM') or 'dumb') == 'dumb' then
   noColors() -- luacheck: globals noColors
end

define('print_old', rawget(_G, 'print_old') or print)
define('print_new', printing.print)

-- How deep print shows tables; 0: as Lua itself.
define('setprintlevel', function(depth)
   if depth == nil or depth < 0 then
      error('expected number [0,+)')
   end
   printing.depth = math.floor(depth)
   define('print', printing.depth == 0 and rawget(_G, 'print_old') or printing.print)
end)
setprintlevel(5) -- luacheck: globals setprintlevel

for name, f in pairs(globals) do
   define(name, f)
end

local named = require
define('require', function(name)
   if type(name) ~= 'string' or name:sub(1, 1) ~= '.' then
      return named(name)
   end
   return beside(name, debug.getinfo(2, 'S').source)
end)

define('_RESULTS', {})
define('_LAST', '')

-- Take entries from standard input until it ends, or one says `break`.
local function repl()
   local source = ''
   while true do
      io.write(source == '' and 'th> ' or '..> ')
      io.flush()
      local line = io.read('*line')
      if not line or line == 'break' then
         return
      elseif line == 'exit' then
         os.exit()
      end
      source = source == '' and line:gsub('^%s*=', '') or source .. '\n' .. line
      local ok, more = xpcall(entry, debug.traceback, source)
      if not ok then
         print(more)
      end
      source = ok and more and line ~= '' and source or ''
   end
end
define('repl', repl)

local preloaded = {}
for name in pairs(_G) do
   preloaded[name] = true
end
define('_preloaded_', preloaded)

return repl
