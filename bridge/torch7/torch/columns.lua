-- Column-major matrices for LAPACK to work on, made from operands and results of any layout; and what it complains of.
local native = require 'bridge.native'
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local kernels = require 'torch.kernels'
local bad = require('torch.arguments').bad

local C = native.C
local tensor, scratch = object.tensor, object.scratch
local LIMIT = 2^31 - 1 -- LAPACK's integers

local columns = {}

-- Raise what LAPACK's `info` means: `format` takes the routine's name, and `info` as often as it likes.
function columns.report(info, name, format)
   if info < 0 then
      error(string.format('Lapack Error in %s : Illegal Argument %d', name, -info), 0)
   elseif info > 0 then
      error(string.format(format, name, info, info), 0)
   end
end

-- The rows and columns of a matrix. `message` may name the wrong number of dimensions.
function columns.matrix(argument, userdata, message)
   local t = tensor(userdata)
   if t.nDimension ~= 2 then
      bad(argument, message, t.nDimension)
   end
   local m, n = tonumber(t.size[0]), tonumber(t.size[1])
   if m > LIMIT or n > LIMIT then
      bad(argument, '%s is larger than LAPACK can count (%d)', geometry.describe(t), LIMIT)
   end
   return m, n
end

-- The order of a square matrix.
function columns.square(userdata)
   local m, n = columns.matrix(1, userdata, 'A should be 2 dimensional')
   if m ~= n then
      bad(1, 'A should be square')
   end
   return n
end

-- Do A and B of a system A X = B belong together? The sizes of A, and B's columns.
function columns.operands(b, a, square)
   local m, n = columns.matrix(2, a, 'A should have 2 dimensions, but has %d')
   local right = tensor(b)
   if right.nDimension ~= 1 and right.nDimension ~= 2 then
      bad(1, 'B should have 1 or 2 dimensions, but has %d', right.nDimension)
   elseif square and m ~= n then
      bad(2, 'A should be square, but is %dx%d', m, n)
   elseif right.size[0] ~= m then
      bad(2, 'A,B size incompatible - A has %d rows, B has %d', m, tonumber(right.size[0]))
   end
   return m, n, right.nDimension == 1 and 1 or tonumber(right.size[1])
end

function columns.resize2(userdata, rows, count)
   scratch[0], scratch[1] = rows, count
   geometry.resize(tensor(userdata), 2)
   return userdata
end

-- Is t rows x count, with its columns behind each other?
local function behind(t, rows, count)
   return t.nDimension == 2 and t.size[0] == rows and t.size[1] == count and (rows == 1 or t.stride[0] == 1)
      and (count == 1 or t.stride[1] == rows)
end

-- Turn r into a column-major matrix with whatever in it; false if its memory does not lie like one.
local function reshape(r, rows, count)
   local to = tensor(r)
   if behind(to, rows, count) then
      return true
   elseif to.nDimension > 0 and not geometry.contiguous(to) then
      return false
   end
   columns.resize2(r, count, rows)
   C.br_tensor_changed(to)
   to.size[0], to.size[1], to.stride[0], to.stride[1] = rows, count, 1, rows
   return behind(to, rows, count)
end

-- A column-major matrix to work on in the place of r: r itself where possible, else one that `finish` copies to it.
-- `...`: tensors that are still to be read.
function columns.room(r, dtype, rows, count, ...)
   local shared = r == nil
   for i = 1, r and select('#', ...) or 0 do
      local storage = tensor((select(i, ...))).storage
      shared = shared or storage ~= nil and storage == tensor(r).storage
   end
   if shared or not reshape(r, rows, count) then
      r = object.newtensor(dtype)
      reshape(r, rows, count)
   end
   return r
end

-- The same with the elements of `source`, a matrix or (as one column) a vector, in the first of its rows; in place if
-- r is the source and lies well.
function columns.of(r, source, rows, ...)
   local from = tensor(source)
   local m, n = tonumber(from.size[0]), from.nDimension == 1 and 1 or tonumber(from.size[1])
   rows = rows or m
   if r == source and behind(from, rows, n) then
      return r
   end
   local work = columns.room(r, from.dtype, rows, n, source, ...)
   if rows > m then
      kernels.fill(work, 0)
      kernels.copy(work:narrow(1, 1, m), source)
   else
      kernels.copy(work, source)
   end
   return work
end

-- Put what was worked out into r.
function columns.finish(work, r)
   if work ~= r then
      geometry.resizeas(tensor(r), tensor(work))
      kernels.copy(r, work)
   end
end

-- A pointer to the first element; the tensor has to be mentioned after its last use.
function columns.data(userdata)
   local t = tensor(userdata)
   if C.br_tensor_covered(t) == 0 then
      kernels.fault(C.BR_GONE, userdata)
   end
   return userdata:data()
end

-- Zero what lies outside the triangle `uplo` of a column-major matrix; or mirror the triangle there.
function columns.triangle(userdata, uplo, mirror)
   local n, a = tonumber(tensor(userdata).size[0]), columns.data(userdata)
   for j = 0, n - 1 do
      for i = j + 1, n - 1 do
         local above, below = i * n + j, j * n + i
         if uplo == 'U' then
            a[below] = mirror and a[above] or 0
         else
            a[above] = mirror and a[below] or 0
         end
      end
   end
   object.keep(userdata)
end

-- Operator rows of functions that are no methods: `results` (words of a form) first or not at all; f gets one for each
-- of `made`, then the arguments.
function columns.row(name, results, arguments, made, f)
   local function fresh(a, ...)
      local dtype = tensor(a).dtype
      local news = {}
      for i, kind in ipairs(made) do
         news[i] = object.newtensor(kind == 'T' and dtype or elements[kind].id)
      end
      if #news == 1 then
         return f(news[1], a, ...)
      elseif #news == 2 then
         return f(news[1], news[2], a, ...)
      end
      return f(news[1], news[2], news[3], a, ...)
   end
   return {name = name, types = {'Float', 'Double'}, forms = {results .. ' ' .. arguments, f, arguments, fresh},
      nomethod = true, host = true}
end

return columns
