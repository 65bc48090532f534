-- Matrices and their parts: diag, tril, triu, trace, cross, renorm.
local native = require 'bridge.native'
local types = require 'torch.ops.types'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local kernels = require 'torch.kernels'
local index = require 'torch.index'
local elements = require 'torch.elements'
local numbers = require 'torch.number'
local ffi = require 'ffi'

local C = native.C
local tensor, scratch = object.tensor, object.scratch
local NUMERIC, FLOAT = types.NUMERIC, types.FLOAT

local function fail(argument, name, message)
   error(string.format("bad argument #%d to '%s' (%s)", argument, name, message), 0)
end

local function matrix(name, t)
   if t.nDimension ~= 2 then
      fail(1, name, 'matrix expected')
   end
   return tonumber(t.size[0]), tonumber(t.size[1])
end

-- A view of the diagonal k of a matrix, and how long it is.
local function diagonal(source, k)
   local n, m = matrix('diag', tensor(source))
   local length = k >= 0 and math.min(n, m - k) or math.min(n + k, m)
   if not (length >= 1) then
      fail(2, 'diag', 'diagonal out of range')
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
   k = k < 0 and math.ceil(k) or math.floor(k)
   if from.nDimension == 1 then
      local n = tonumber(from.size[0]) + math.abs(k)
      scratch[0], scratch[1] = n, n
      geometry.resize(to, 2)
      kernels.fill(r, 0)
      kernels.copy(diagonal(r, k), source)
   elseif from.nDimension == 2 then
      local view, length = diagonal(source, k)
      geometry.resize1(tensor(r), length)
      kernels.copy(r, view)
   else
      fail(1, 'diag', 'matrix or a vector expected')
   end
   return r
end

-- Keep what lies on one side of diagonal k.
local function triangle(name, keeps)
   return function(r, source, k)
      local n, m = matrix(name, tensor(source))
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

local tril = triangle('tril', function(d, k) return d <= k end)
local triu = triangle('triu', function(d, k) return d >= k end)

local function trace(source)
   return kernels.reduce(C.BR_SUM, (diagonal(source, 0)))
end

-- The cross product along a dimension of size 3, the first one unless it is named.
local function cross(r, a, b, d)
   local first, second = tensor(a), tensor(b)
   if not geometry.samesize(first, second) then
      error('inconsistent tensor sizes', 0)
   end
   if not d then
      for k = first.nDimension, 1, -1 do
         d = first.size[k - 1] == 3 and k or d
      end
   end
   if not d then
      error('no dimension of size 3 in a: ' .. geometry.describe(first), 0)
   elseif not (d >= 1 and d <= first.nDimension) then
      fail(3, 'cross', string.format('dimension %d out of range', d))
   elseif first.size[d - 1] ~= 3 then
      fail(3, 'cross', 'dimension size is not 3')
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
   if not (p > 0) then
      fail(2, 'renorm', 'non-positive-norm not supported')
   elseif not (d >= 1 and d <= from.nDimension) then
      fail(3, 'renorm', 'invalid dimension')
   elseif limit < 0 then
      fail(4, 'renorm', 'maxnorm should be greater than 0')
   elseif from.nDimension < 2 then
      fail(1, 'renorm', 'need at least 2 dimensions')
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

-- r[i][j] = gain times the squared distance of a's i-th and b's j-th row, of which each holds all other dimensions.
local function match(r, a, b, gain)
   local first, second = tensor(a), tensor(b)
   local n, m = geometry.elements(first), geometry.elements(second)
   local rows, columns = n > 0 and tonumber(first.size[0]) or 0, m > 0 and tonumber(second.size[0]) or 0
   local width = n / rows
   if width ~= m / columns then
      fail(3, 'match', 'm1 and m2 must have the same inner vector dim')
   end
   local element = elements[first.dtype]
   local result = object.newtensor(first.dtype)
   scratch[0], scratch[1] = rows, columns
   geometry.resize(tensor(result), 2)
   a, b = a:contiguous(), b:contiguous()
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
   {name = 'diag', types = NUMERIC, forms = {'*T T [number=0]', diag}},
   {name = 'tril', types = NUMERIC, host = true, forms = {'*T T [number=0]', tril}},
   {name = 'triu', types = NUMERIC, host = true, forms = {'*T T [number=0]', triu}},
   {name = 'trace', types = NUMERIC, forms = {'T', trace}},
   {name = 'cross', types = NUMERIC, forms = {'*T T T [index]', cross}},
   {name = 'match', types = NUMERIC, host = true, unhalved = true, forms = {'*T T T [number=1]', match},
      methods = {'*T T T [number=1]', match}},
   {name = 'renorm', types = FLOAT, forms = {'*T T+ number index number', renorm}, inplace = true},
}
