-- Calls every function of a class (`which` is its name), or of torch itself, with all kinds of wrong values: each call ends
-- or raises an error. Of the pairs of values each function gets one of `share`, so that it gets each value in each place,
-- and each pair some functions. Returns how many calls there were.
local which, share = ...
require 'torch'
local ffi = require 'ffi'

local made = {
   function() return io.stdout end,
   function() return newproxy() end,
   function() return newproxy(true) end,
   function() return ffi.new('int[1]') end,
   function() return ffi.new('void*') end,
   function() return {} end,
   function() return {1} end,
   function() return function() end end,
   function() return coroutine.create(print) end,
   function() return torch.DoubleTensor(2, 2):zero() end,
   function() return torch.LongTensor(2):zero() end,
   function() return torch.FloatTensor() end,
   function() return torch.DoubleStorage(3):fill(0) end,
   function() return torch.LongStorage{2, 3} end,
   function() return torch.Generator() end,
   function() return torch.MemoryFile() end,
   function() return torch.Timer() end,
}
local TENSOR = 10
for _, plain in ipairs{5LL, 5, -1, 0/0, 2^40, 'x', true, false} do
   table.insert(made, function() return plain end)
end

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
local number = 0
for _, f in pairs(functions(from)) do
   number = number + 1
   for i, first in ipairs(made) do
      if torch.typename(first()) ~= which then
         call(f, first())
         for j, second in ipairs(made) do
            if (number + i + j) % share == 0 then
               call(f, first(), second())
               if which == 'torch' then
                  call(f, made[TENSOR](), first(), second())
               end
            end
         end
      end
   end
end
return calls
