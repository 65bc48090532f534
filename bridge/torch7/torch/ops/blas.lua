-- Products of matrices and vectors. Small ones, and those of integers, by our own loops; others by torch.
local types = require 'torch.ops.types'
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local kernels = require 'torch.kernels'
local aten = require 'torch.aten'

local loops = kernels.loops
local tensor, scratch = object.tensor, object.scratch
local NUMERIC = types.NUMERIC
local SMALL = 4096 -- multiplications below which calling torch costs more than it gives
local FLOAT = elements.Float.id

local function mismatch(m1, m2, kind)
   error(string.format(kind == 'vector' and 'size mismatch, %s, %s' or 'size mismatch, m1: %s, m2: %s',
      geometry.describe(m1), geometry.describe(m2)), 0)
end

local function badresult(r)
   error('size mismatch: the matrix to add to has size ' .. geometry.describe(r), 0)
end

local function check(code, r, a, b)
   if code ~= 0 then
      kernels.fault(code, r, a, b)
   end
end

-- Do r and a share memory? Then the product must not be written while a is read.
local function overlaps(r, a)
   return r.storage ~= nil and r.storage == a.storage
end

-- Bring what is added into r; nothing when it is r already.
local function start(r, m)
   if r ~= m then
      geometry.resizeas(tensor(r), tensor(m))
      kernels.copy(r, m)
   end
end

-- Run product(to, ...) with r, or with a stand-in for it that is copied back when r lies on an operand.
local function protected(product, r, m, a, b, beta, alpha)
   local to = tensor(r)
   if overlaps(to, tensor(a)) or overlaps(to, tensor(b)) then
      local stand = object.newtensor(to.dtype)
      product(stand, m, a, b, beta, alpha)
      start(r, stand)
      return r
   end
   product(r, m, a, b, beta, alpha)
   return r
end

local function matrices(r, m, a, b, beta, alpha)
   local m1, m2, from = tensor(a), tensor(b), tensor(m)
   if m1.size[1] ~= m2.size[0] then
      mismatch(m1, m2)
   elseif from.size[0] ~= m1.size[0] or from.size[1] ~= m2.size[1] then
      badresult(from)
   end
   local work = tonumber(m1.size[0]) * tonumber(m1.size[1]) * tonumber(m2.size[1])
   if m1.dtype < FLOAT or work <= SMALL then
      start(r, m)
      check(loops.addmm(r, a, b, beta, alpha), r, a, b)
   else
      geometry.resizeas(tensor(r), from)
      aten.matmul(r, m, a, b, beta, alpha)
   end
end

local function vectors(r, m, a, x, beta, alpha)
   local m1, v, from = tensor(a), tensor(x), tensor(m)
   if m1.size[1] ~= v.size[0] then
      mismatch(m1, v, 'vector')
   elseif from.size[0] ~= m1.size[0] then
      badresult(from)
   end
   start(r, m)
   check(loops.addmv(r, a, x, beta, alpha), r, a, x)
end

local function outer(r, m, x, y, beta, alpha)
   local v, w, from = tensor(x), tensor(y), tensor(m)
   if from.size[0] ~= v.size[0] or from.size[1] ~= w.size[0] then
      badresult(from)
   end
   start(r, m)
   check(loops.addr(r, x, y, beta, alpha), r, x, y)
end

-- The k-th matrix of a batch.
local function batch(userdata, k)
   return userdata:select(1, k)
end

local function batches(r, m, a, b, beta, alpha)
   local m1, m2, from = tensor(a), tensor(b), tensor(m)
   if m1.size[0] ~= m2.size[0] or m1.size[2] ~= m2.size[1] then
      mismatch(m1, m2)
   elseif from.size[0] ~= m1.size[0] or from.size[1] ~= m1.size[1] or from.size[2] ~= m2.size[2] then
      badresult(from)
   end
   local n, dtype = tonumber(m1.size[0]), m1.dtype
   geometry.resizeas(tensor(r), from)
   if not elements[dtype].integer then
      return aten.matmul(r, m, a, b, beta, alpha)
   end
   for k = 1, n do
      matrices(batch(r, k), batch(m, k), batch(a, k), batch(b, k), beta, alpha)
   end
end

-- The sum of a batch's products.
local function summed(r, m, a, b, beta, alpha)
   local m1, m2 = tensor(a), tensor(b)
   if m1.size[0] ~= m2.size[0] then
      mismatch(m1, m2)
   end
   local n = tonumber(m1.size[0])
   for k = 1, n do
      matrices(r, k == 1 and m or r, batch(a, k), batch(b, k), k == 1 and beta or 1, alpha)
   end
end

-- r = beta m + alpha a b: the forms with alpha alone, and with both.
local function added(name, product, rank, first, second)
   local r, m = string.format('*T~%dD', rank), string.format('T~%dD+', rank)
   return {name = name, types = NUMERIC, inplace = true, forms = {
      string.format('%s %s [number=1] %s %s', r, m, first, second),
      function(to, from, alpha, a, b) return protected(product, to, from, a, b, 1, alpha) end,
      string.format('%s number %s number %s %s', r, m, first, second),
      function(to, beta, from, alpha, a, b) return protected(product, to, from, a, b, beta, alpha) end,
   }}
end

-- r = a b, resized to the sizes of the product.
local function plain(product, n, one, other)
   return function(r, a, b)
      local to, m1, m2 = tensor(r), tensor(a), tensor(b)
      local stand = r
      if overlaps(to, m1) or overlaps(to, m2) then
         stand = object.newtensor(to.dtype)
      end
      m1, m2 = tensor(a), tensor(b)
      for d = 0, n - 1 do
         scratch[d] = d < n - other and m1.size[d] or m2.size[d - n + one]
      end
      geometry.resize(tensor(stand), n)
      product(stand, stand, a, b, 0, 1)
      start(r, stand)
      return r
   end
end

return {
   added('addmm', matrices, 2, 'T~2D', 'T~2D'),
   added('addmv', vectors, 1, 'T~2D', 'T~1D'),
   added('addr', outer, 2, 'T~1D', 'T~1D'),
   added('baddbmm', batches, 3, 'T~3D', 'T~3D'),
   added('addbmm', summed, 2, 'T~3D', 'T~3D'),
   {name = 'mm', types = NUMERIC, inplace = false, forms = {'*T T~2D T~2D', plain(matrices, 2, 2, 1)},
      methods = {'*T T~2D T~2D', plain(matrices, 2, 2, 1)}},
   {name = 'mv', types = NUMERIC, forms = {'*T T~2D T~1D', plain(vectors, 1, 1, 0)},
      methods = {'*T T~2D T~1D', plain(vectors, 1, 1, 0)}},
   {name = 'ger', types = NUMERIC, forms = {'*T T~1D T~1D', plain(outer, 2, 1, 1)},
      methods = {'*T T~1D T~1D', plain(outer, 2, 1, 1)}},
   {name = 'bmm', types = NUMERIC, forms = {'*T T~3D T~3D', plain(batches, 3, 3, 1)},
      methods = {'*T T~3D T~3D', plain(batches, 3, 3, 1)}},
}
