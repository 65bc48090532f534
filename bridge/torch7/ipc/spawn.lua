-- ipc.spawn{file=, args=, env=}: a child process whose input is written and whose output is read.
local ffi = require 'ffi'
local torch = require 'torch'
local object = require 'torch.object'
local posix = require 'paths.posix'
local transfer = require 'ipc.transfer'

ffi.cdef[[
typedef struct { int descriptor; short events, revents; } ipc_poll;
typedef union { char bytes[512]; void *aligned; } ipc_opaque;
int ipc_pipe(int *ends, int flags) __asm__("pipe2");
int ipc_close(int descriptor) __asm__("close");
long ipc_read(int descriptor, void *to, size_t n) __asm__("read");
long ipc_write(int descriptor, const void *from, size_t n) __asm__("write");
int ipc_wait_for(ipc_poll *polled, unsigned long n, int milliseconds) __asm__("poll");
int ipc_kill(int process, int signal) __asm__("kill");
int ipc_waitpid(int process, int *status, int options) __asm__("waitpid");
int posix_spawn_file_actions_init(void *actions);
int posix_spawn_file_actions_adddup2(void *actions, int from, int to);
int posix_spawn_file_actions_destroy(void *actions);
int posix_spawnp(int *process, const char *file, const void *actions, const void *attributes, const char *const *argv,
                 const char *const *envp);
extern char **environ;
]]

local C = ffi.C
local CLOEXEC, NOHANG, EINTR = 0x80000, 1, 4 -- O_CLOEXEC, WNOHANG
local READABLE, WRITABLE = 1, 4 -- POLLIN, POLLOUT
local PART = 4096 -- bytes; no more than a pipe that is ready takes at once
local SIGNALS = {TERM = 15, KILL = 9}
local GRACE = 100 -- milliseconds that a child that is collected has to end when it is told to

local home = {}
local Spawn = torch.class('ipc.spawn', home)

local function check(rc, what)
   if rc ~= 0 then
      error(string.format('ipc.spawn: %s: %s', what, posix.message(rc)), 3)
   end
end

local function pipe()
   local ends = ffi.new('int[2]')
   if C.ipc_pipe(ends, CLOEXEC) ~= 0 then
      error('ipc.spawn: pipe: ' .. posix.message(ffi.errno()), 3)
   end
   return ends[0], ends[1]
end

-- Strings as C's programs get them; what keeps them alive.
local function strings(name, list, first)
   local texts = {first}
   for i, text in ipairs(list or {}) do
      if type(text) ~= 'string' and type(text) ~= 'number' then
         error(string.format('ipc.spawn: %s: string expected at %d, got %s', name, i, type(text)), 3)
      end
      texts[#texts + 1] = tostring(text)
   end
   local array = ffi.new('const char *[?]', #texts + 1)
   for i, text in ipairs(texts) do
      array[i - 1] = text
   end
   return array, texts
end

local function ready(descriptor, events)
   local polled = ffi.new('ipc_poll', {descriptor, events})
   while C.ipc_wait_for(polled, 1, transfer.slice * 1000) <= 0 do
      transfer.heed()
   end
end

local function alive(self)
   if not self.process then
      error('this process has been waited for', 3)
   end
end

function Spawn:pid()
   alive(self)
   return self.process
end

-- Write text to its input; without any: close that.
function Spawn:stdin(text)
   alive(self)
   if not self.input then
      error('stdin: it is closed', 2)
   elseif text == nil then
      C.ipc_close(self.input)
      self.input, self.guard[0] = nil, -1
      return
   end
   text = tostring(text)
   local done = 0
   while done < #text do
      ready(self.input, WRITABLE)
      local part = text:sub(done + 1, done + PART)
      local n = tonumber(C.ipc_write(self.input, part, #part))
      if n >= 0 then
         done = done + n
      elseif ffi.errno() ~= EINTR then
         error('stdin: ' .. posix.message(ffi.errno()), 2)
      end
   end
end

-- More of its output into what was read ahead; false at its end.
local function more(self)
   if self.finished then
      return false
   end
   ready(self.output, READABLE)
   local buffer = ffi.new('char[?]', PART)
   local n = tonumber(C.ipc_read(self.output, buffer, PART))
   if n > 0 then
      self.ahead[#self.ahead + 1] = ffi.string(buffer, n)
   elseif n == 0 then
      self.finished = true
   elseif ffi.errno() ~= EINTR then
      error('stdout: ' .. posix.message(ffi.errno()), 3)
   end
   return not self.finished
end

local function gathered(self)
   local text = table.concat(self.ahead)
   self.ahead = {text}
   return text
end

-- The first n bytes of what was read ahead, and `skip` bytes less for the next.
local function take(self, text, n, skip)
   self.ahead = {text:sub(n + skip + 1)}
   return text:sub(1, n)
end

-- What becomes of a child to which no reference is left.
local function guard(process, input, output)
   return ffi.gc(ffi.new('int[3]', input, output), function(ends)
      C.ipc_close(ends[0])
      C.ipc_close(ends[1])
      if ends[2] ~= 0 then -- it has ended; its number may be another's by now
         return
      end
      C.ipc_kill(process, SIGNALS.TERM)
      for _ = 1, GRACE do
         if C.ipc_waitpid(process, nil, NOHANG) ~= 0 then
            return
         end
         C.ipc_wait_for(nil, 0, 1)
      end
      C.ipc_kill(process, SIGNALS.KILL)
      C.ipc_waitpid(process, nil, 0)
   end)
end

-- The next line (without an argument too), '*all' that is left, or at most so many bytes; nil at the end.
function Spawn:stdout(what)
   alive(self)
   if type(what) == 'number' then
      while gathered(self) == '' and more(self) do -- luacheck: ignore 542
      end
   elseif what == nil or type(what) == 'string' and what:sub(1, 2) == '*l' then
      local last = 0
      while true do
         local text = gathered(self)
         local found = text:find('\n', last + 1, true)
         if found then
            return take(self, text, found - 1, 1)
         elseif not more(self) then
            break
         end
         last = #text
      end
   elseif type(what) == 'string' and what:sub(1, 2) == '*a' then
      while more(self) do -- luacheck: ignore 542
      end
   else
      error("stdout: '*line', '*all' or a number of bytes expected, got " .. tostring(what), 2)
   end
   local text = gathered(self)
   if text ~= '' then
      return take(self, text, type(what) == 'number' and what or #text, 0)
   end
end

function Spawn:stdoutFileId()
   alive(self)
   return self.output
end

-- Has it ended? Then its status is kept.
local function reap(self)
   if not self.status then
      local status = ffi.new('int[1]')
      local rc = C.ipc_waitpid(self.process, status, NOHANG)
      if rc == self.process then
         self.status, self.guard[2] = status[0], 1
      elseif rc < 0 and ffi.errno() ~= EINTR then
         error('ipc.spawn: waiting: ' .. posix.message(ffi.errno()), 3)
      end
   end
   return self.status ~= nil
end

function Spawn:running()
   alive(self)
   return not reap(self)
end

-- Close its input, pass over what is left of its output, and wait until it ends: its exit code. With 'TERM' or 'KILL':
-- that signal is sent first.
function Spawn:wait(signal)
   alive(self)
   if signal ~= nil then
      local number = SIGNALS[signal] or error("wait: 'TERM' or 'KILL' expected, got " .. tostring(signal), 2)
      if not reap(self) then
         C.ipc_kill(self.process, number)
      end
   end
   if self.input then
      self:stdin()
   end
   while signal == nil and more(self) do
      self.ahead = {}
   end
   while not reap(self) do
      transfer.pause(0.01)
   end
   ffi.gc(self.guard, nil)
   C.ipc_close(self.output)
   self.process = nil
   return bit.band(bit.rshift(self.status, 8), 0xff)
end

Spawn.__write = function()
   error('an ipc.spawn cannot be sent or saved', 0)
end

return function(options)
   if type(options) ~= 'table' or type(options.file) ~= 'string' then
      error('ipc.spawn: a table with the name of a program in `file` expected, got ' .. type(options), 2)
   end
   local argv, keptargv = strings('args', options.args, options.file)
   local envp, keptenvp = C.environ, nil
   if options.env then
      envp, keptenvp = strings('env', options.env)
   end
   local input, mine = pipe()
   local output, theirs = pipe()
   local actions, process = ffi.new('ipc_opaque'), ffi.new('int[1]')
   C.posix_spawn_file_actions_init(actions)
   C.posix_spawn_file_actions_adddup2(actions, input, 0)
   C.posix_spawn_file_actions_adddup2(actions, theirs, 1)
   local rc = C.posix_spawnp(process, options.file, actions, nil, argv, ffi.cast('const char *const *', envp))
   object.keep(keptargv, keptenvp)
   C.posix_spawn_file_actions_destroy(actions)
   C.ipc_close(input)
   C.ipc_close(theirs)
   if rc ~= 0 then
      C.ipc_close(mine)
      C.ipc_close(output)
   end
   check(rc, options.file)
   local self = torch.factory('ipc.spawn')()
   self.process, self.input, self.output, self.ahead = process[0], mine, output, {}
   self.guard = guard(process[0], mine, output)
   return self
end
