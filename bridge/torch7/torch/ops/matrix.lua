-- Matrices and their parts: diag, tril, triu, trace, cross, renorm.
local native = require 'bridge.native'
local types = require 'torch.ops.types'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local kernels = require 'torch.kernels'
local arguments = require 'torch.arguments'
local index = require 'torch.index'
local elements = require 'torch.elements'
local numbers = require 'torch.number'
local ffi = require 'ffi'

local C = native.C
local tensor, scratch = object.tensor, object.scratch
local NUMERIC, FLOAT = types.NUMERIC, types.FLOAT

local bad, raise = arguments.bad, arguments.raise

-- A view of the diagonal k of a matrix, and how long it is; nothing for one that lies outside.
local function diagonal(source, k)
   local t = tensor(source)
   local n, m = tonumber(t.size[0]), tonumber(t.size[1])
   local length = k >= 0 and math.min(n, m - k) or math.min(n + k, m)
   if length < 1 then
      return nil
   end
   local userdata = geometry.alias(source)
   local r = tensor(userdata)
   r.storageOffset = r.storageOffset + (k >= 0 and k * r.stride[1] or -k * r.stride[0])
   r.size[0], r.stride[0] = length, r.stride[0] + r.stride[1]
   r.nDimension = 1
   return userdata, length
end

local function diag(r, source, k)
   local to, from = tensor(r), tensor(source)
   if from.nDimension == 1 then
      local n = tonumber(from.size[0]) + math.abs(k)
      scratch[0], scratch[1] = n, n
      geometry.resize(to, 2)
      kernels.fill(r, 0)
      kernels.copy(diagonal(r, k), source)
   elseif from.nDimension == 2 then
      local view, length = diagonal(source, k)
      geometry.resize1(tensor(r), length or 0)
      if view then
         kernels.copy(r, view)
      end
   else
      bad(1, 'matrix or a vector expected')
   end
   return r
end

local function matrix(t)
   if t.nDimension ~= 2 then
      bad(1, 'expected a matrix')
   end
   return tonumber(t.size[0]), tonumber(t.size[1])
end

-- Keep what lies on one side of diagonal k.
local function triangle(keeps)
   return function(r, source, k)
      local n, m = matrix(tensor(source))
      geometry.resizeas(tensor(r), tensor(source))
      local to, from = tensor(r), tensor(source)
      local read, write = index.read[from.dtype], index.write[from.dtype]
      for i = 0, n - 1 do
         for j = 0, m - 1 do
            local value = keeps(j - i, k) and read(from, from.storageOffset + i * from.stride[0] + j * from.stride[1])
               or 0
            write(to, to.storageOffset + i * to.stride[0] + j * to.stride[1], value)
         end
      end
      object.keep(source)
      return r
   end
end

local tril = triangle(function(d, k) return d <= k end)
local triu = triangle(function(d, k) return d >= k end)

local function trace(source)
   matrix(tensor(source))
   return kernels.reduce(C.BR_SUM, (diagonal(source, 0)))
end

-- The cross product along a dimension of size 3, the first one unless it is named.
local function cross(r, a, b, d)
   local first, second = tensor(a), tensor(b)
   if first.nDimension ~= second.nDimension then
      raise('inconsistent tensor dimension %dD, %dD', first.nDimension, second.nDimension)
   elseif not geometry.samesize(first, second) then
      raise('inconsistent tensor sizes %s, %s', geometry.describe(first), geometry.describe(second))
   end
   if d < 1 then
      for k = first.nDimension, 1, -1 do
         d = first.size[k - 1] == 3 and k or d
      end
      if d < 1 then
         raise('no dimension of size 3 in a: %s', geometry.describe(first))
      end
   end
   if d > first.nDimension then
      bad(3, 'dimension %d out of range', d)
   elseif first.size[d - 1] ~= 3 then
      bad(3, 'dimension %d does not have size 3', d)
   end
   local result = object.newtensor(first.dtype)
   geometry.resizeas(tensor(result), first)
   for k = 1, 3 do
      local i, j = k % 3 + 1, (k + 1) % 3 + 1
      local to = result:narrow(d, k, 1)
      kernels.pair(C.BR_MUL, to, a:narrow(d, i, 1), b:narrow(d, j, 1))
      kernels.triple(C.BR_ADDCMUL, to, to, a:narrow(d, j, 1), b:narrow(d, i, 1), -1)
   end
   geometry.resizeas(tensor(r), tensor(result))
   kernels.copy(r, result)
   return r
end

-- Scale down every slice along d whose p-norm is above the limit.
local function renorm(r, source, p, d, limit)
   local to, from = tensor(r), tensor(source)
   if d < 1 or d > from.nDimension then
      bad(3, 'invalid dimension %d', d)
   elseif not (p > 0) then
      bad(2, 'non-positive-norm not supported')
   elseif from.nDimension < 2 then
      bad(1, 'need at least 2 dimensions, got %d dimensions', from.nDimension)
   end
   local n = tonumber(from.size[d - 1])
   geometry.resizeas(to, from)
   for i = 1, n do
      local slice = source:select(d, i)
      local sum = kernels.reduce(C.BR_NORM, slice, p)
      local norm = sum ^ (1 / p)
      kernels.map(C.BR_MULS, r:select(d, i), slice, norm > limit and limit / (norm + 1e-7) or 1)
   end
   return r
end

local int64 = ffi.typeof('int64_t')

local function integer(data, i)
   return int64(data[i])
end

-- As a matrix with the rows along the first dimension. A contiguous tensor takes this shape itself, and keeps it.
local function flattened(userdata)
   local matrix_ = userdata:contiguous()
   local t = tensor(matrix_)
   local n = geometry.elements(t)
   scratch[0], scratch[1] = t.size[0], n / tonumber(t.size[0])
   geometry.resize(t, 2)
   return matrix_, tonumber(t.size[0]), tonumber(t.size[1])
end

-- r[i][j] = gain times the squared distance of a's i-th and b's j-th row, of which each holds all other dimensions. A
-- result that is an operand gets its sizes before that is read.
local function match(r, a, b, gain)
   local first, second = tensor(a), tensor(b)
   if first.nDimension == 0 or second.nDimension == 0 then
      bad(3, 'm1 and m2 must have the same inner vector dim')
   end
   scratch[0], scratch[1] = first.size[0], second.size[0]
   geometry.resize(tensor(r), 2)
   local rows, columns, width, other
   a, rows, width = flattened(a)
   b, columns, other = flattened(b)
   if width ~= other then
      bad(3, 'm1 and m2 must have the same inner vector dim')
   end
   local element = elements[first.dtype]
   local result = object.newtensor(first.dtype)
   scratch[0], scratch[1] = rows, columns
   geometry.resize(tensor(result), 2)
   local x, y, to = a:data(), b:data(), result:data()
   local number = element.integer and int64 or tonumber -- integers wrap
   local read = element.integer and integer or numbers[first.dtype]
   local scale = number(gain)
   for i = 0, rows - 1 do
      for j = 0, columns - 1 do
         local sum = number(0)
         for k = 0, width - 1 do
            local d = read(x, i * width + k) - read(y, j * width + k)
            sum = sum + d * d
         end
         to[i * columns + j] = sum * scale
      end
   end
   object.keep(a, b)
   geometry.resizeas(tensor(r), tensor(result))
   kernels.copy(r, result)
   return r
end

return {
   {name = 'diag', types = NUMERIC, forms = {'[*T] T [long=0]', diag}},
   {name = 'tril', types = NUMERIC, host = true, forms = {'[*T] T [int=0]', tril}},
   {name = 'triu', types = NUMERIC, host = true, forms = {'[*T] T [int=0]', triu}},
   {name = 'trace', types = NUMERIC, forms = {'T', trace}},
   {name = 'cross', types = NUMERIC, forms = {'[*T] T T [index=0]', cross}},
   {name = 'match', types = NUMERIC, host = true, unhalved = true, forms = {'*T T T [real=1]', match}},
   {name = 'renorm', types = FLOAT, forms = {'*T T+ real index real', renorm}},
}
