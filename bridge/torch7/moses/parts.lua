-- Parts of lists.
local moses = require 'moses'

-- The values from `start` (1) to `finish` (the last).
function moses.slice(array, start, finish)
   local part = {}
   for i = math.max(start or 1, 1), math.min(finish or #array, #array) do
      part[#part + 1] = array[i]
   end
   return part
end

-- A copy without the values from `start` to `finish`.
function moses.removeRange(array, start, finish)
   local left = {}
   start, finish = math.max(start or 1, 1), math.min(finish or #array, #array)
   for i = 1, #array do
      if i < start or i > finish then
         left[#left + 1] = array[i]
      end
   end
   return left
end

-- Runs of neighbours for which f gives the same.
function moses.chunk(array, f, ...)
   local chunks, last = {}, nil
   for i, value in ipairs(array) do
      local name = f(i, value, ...)
      if i == 1 or name ~= last then
         chunks[#chunks + 1] = {}
      end
      table.insert(chunks[#chunks], value)
      last = name
   end
   return chunks
end

function moses.first(array, n)
   return moses.slice(array, 1, n or 1)
end

-- All but the last n (1).
function moses.initial(array, n)
   if n and n < 0 then
      return
   end
   return moses.slice(array, 1, #array - math.min(n or 1, #array))
end

-- The last n; without a number, all but the first.
function moses.last(array, n)
   if n and n <= 0 then
      return
   end
   return moses.slice(array, n and #array - math.min(n, #array) + 1 or 2)
end

-- From an index (1) on.
function moses.rest(array, index)
   return moses.slice(array, index or 1)
end

function moses.nth(array, index)
   return array[index]
end

function moses.compact(array)
   return moses.reject(array, function(_, value) return not value end)
end

local function padded(part, n, pad)
   while pad ~= nil and #part < n do
      part[#part + 1] = pad
   end
   return part
end

-- An iterator over parts of n values (1), which begin `step` apart and end with the list.
local function windows(array, n, pad, step)
   local start = 1
   return function()
      if start > #array then
         return
      end
      local part = padded(moses.slice(array, start, start + n - 1), n, pad)
      start = start + n - 1 >= #array and #array + 1 or start + step
      return part
   end
end

function moses.partition(array, n, pad)
   n = n or 1
   return windows(array, n, pad, math.max(n, 1))
end

-- Parts that share one value with the one before.
function moses.sliding(array, n, pad)
   n = n or 2
   return windows(array, n, pad, math.max(n - 1, 1))
end

local function permute(array, n)
   if n == 0 then
      coroutine.yield(array)
   end
   for i = 1, n do
      array[n], array[i] = array[i], array[n]
      permute(array, n - 1)
      array[n], array[i] = array[i], array[n]
   end
end

-- An iterator over all orders; each is the same table.
function moses.permutation(array)
   return coroutine.wrap(function() permute(array, #array) end)
end
