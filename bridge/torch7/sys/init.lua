-- The sys package: clocks, sleeping, commands, colours.
local ffi = require 'ffi'
local native = require 'bridge.native'
local paths = require 'paths'
local split = require 'sys.split'

-- Under names of our own: a program may declare the same functions with its own structs.
ffi.cdef[[
typedef struct { long seconds, fraction; } sys_timeval;
int sys_gettimeofday(sys_timeval *now, void *zone) __asm__("gettimeofday");
int usleep(unsigned int microseconds);
int sys_clock_gettime(int clock, sys_timeval *now) __asm__("clock_gettime");
]]
local C = ffi.C
local now = ffi.new('sys_timeval')
local heed = native.heed_signals
local SLICE = heed and 1e5 or 1e9 -- microseconds of a pause without heeding signals; usleep takes no more than 2^32

local sys = {}
_G.sys = sys
package.loaded.sys = sys

-- ---- time

-- Seconds since 1970, to the microsecond.
function sys.clock()
   C.sys_gettimeofday(now, nil)
   return tonumber(now.seconds) + tonumber(now.fraction) * 1e-6
end

local started = sys.clock()

function sys.tic()
   started = sys.clock()
end

-- Seconds since the last tic; printed too when `verbose`.
function sys.toc(verbose)
   local elapsed = sys.clock() - started
   if verbose then
      print(elapsed)
   end
   return elapsed
end

local function monotonic()
   C.sys_clock_gettime(1, now) -- CLOCK_MONOTONIC; its fractions are nanoseconds
   return tonumber(now.seconds) * 1e6 + tonumber(now.fraction) * 1e-3
end

-- In pieces, so that a long pause can be interrupted. A signal ends a piece early: the clock says when it is over.
function sys.usleep(microseconds)
   local stop = monotonic() + microseconds
   while microseconds > 0 do
      C.usleep(math.min(microseconds, SLICE))
      if heed then
         heed() -- Ctrl-C ends a pause
      end
      microseconds = stop - monotonic()
   end
end

function sys.sleep(seconds)
   sys.usleep(seconds * 1e6)
end

-- ---- commands

local function trim(text)
   return (text:gsub('^%s*', ''):gsub('%s*$', ''))
end

-- What a command prints (its errors too), without white space around it.
function sys.execute(command)
   local pipe = assert(io.popen(command .. ' 2>&1'))
   local output = pipe:read('*a')
   pipe:close()
   return trim(output)
end

-- The same by way of a file, which `format` says how to read (all of it).
function sys.fexecute(command, format)
   local name = os.tmpname()
   os.execute(command .. ' >' .. name .. ' 2>&1')
   local file = assert(io.open(name))
   local output = file:read(format or '*all')
   file:close()
   os.remove(name)
   return trim(output or '')
end

function sys.ls(directory)
   return sys.execute('ls ' .. (directory or ' '))
end

function sys.ll(directory)
   return sys.execute('ls -l ' .. (directory or ' '))
end

function sys.la(directory)
   return sys.execute('ls -a ' .. (directory or ' '))
end

function sys.lla(directory)
   return sys.execute('ls -la ' .. (directory or ' '))
end

-- ---- the system

local systems = {Linux = 'linux', Darwin = 'macos', Windows = 'windows'}

function sys.uname()
   return systems[(paths.uname())] or '?'
end

sys.OS = sys.uname()

-- The directory and the name of the file that calls this.
function sys.fpath()
   local file = paths.concat((debug.getinfo(2, 'S').source:gsub('^@', '')))
   return paths.dirname(file), paths.basename(file)
end

-- Where Torch is installed: above the directory of its programs.
sys.prefix = paths.dirname(paths.execdir() or paths.cwd())

sys.dirname, sys.concat = paths.dirname, paths.concat

-- ---- values

-- The parts of a string between separators.
function sys.split(text, separator)
   return split(text, separator)
end

function sys.isNaN(number)
   return number ~= number
end

-- What a terminal writes in colour after: plain names thin, capital ones bold, and '_' before one its background.
sys.COLORS = {none = '\27[0m'}
for i, name in ipairs{'black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'} do
   local code = 29 + i
   sys.COLORS[name] = '\27[0;' .. code .. 'm'
   sys.COLORS[name:gsub('^%l', string.upper)] = '\27[1;' .. code .. 'm'
   sys.COLORS['_' .. name] = '\27[' .. code + 10 .. 'm'
end

return sys
