-- Calls every function of a class (`which` is its name), or of torch itself, with all kinds of wrong values: each call ends
-- or raises an error. Returns how many calls there were.
local which = ...
require 'torch'
local ffi = require 'ffi'

local function values()
   return {
      io.stdout, newproxy(), newproxy(true), ffi.new('int[1]'), ffi.new('void*'), 5LL, 5, -1, 0/0, 2^40, 'x', {}, {1},
      function() end, coroutine.create(print), true, torch.DoubleTensor(2, 2):zero(), torch.LongTensor(2):zero(),
      torch.FloatTensor(), torch.DoubleStorage(3):fill(0), torch.LongStorage{2, 3}, torch.Generator(), torch.MemoryFile(),
      torch.Timer(), false,
   }
end
local TENSOR = 17

-- What ends the process, waits, or takes a raw address by design.
local skipped = {
   free = true, retain = true, __pushudata = true, pushudata = true, exit = true, read_line = true, sleep = true, include = true,
   setnumthreads = true, setenv = true, setdefaulttensortype = true,
}

local function functions(from)
   local found = {}
   while type(from) == 'table' do
      for name, f in pairs(from) do
         if type(f) == 'function' and not skipped[name] and not found[name] then
            found[name] = f
         end
      end
      from = getmetatable(from)
   end
   return found
end

local calls = 0
local function call(f, ...)
   calls = calls + 1
   pcall(f, ...)
end

local from = torch
if which ~= 'torch' then
   from = torch.getmetatable(which)
end
for _, f in pairs(functions(from)) do
   for i = 1, #values() do
      local given = values()
      if torch.typename(given[i]) ~= which then
         call(f, given[i])
         for j = 1, #given do
            given = values()
            call(f, given[i], given[j])
            if which == 'torch' then
               call(f, given[TENSOR], given[i], given[j])
            end
         end
      end
   end
end
return calls
