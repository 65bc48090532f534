-- Products of matrices and vectors. Small ones, and those of integers, by our own loops; others by torch.
local types = require 'torch.ops.types'
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local kernels = require 'torch.kernels'
local arguments = require 'torch.arguments'
local aten = require 'torch.aten'

local loops = kernels.loops
local tensor, scratch = object.tensor, object.scratch
local NUMERIC = types.NUMERIC
local SMALL = 4096 -- multiplications below which calling torch costs more than it gives
local FLOAT = elements.Float.id

local describe, bad, raise = geometry.describe, arguments.bad, arguments.raise

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
   else
      product(r, m, a, b, beta, alpha)
   end
end

local function matrices(r, m, a, b, beta, alpha)
   local m1, m2, from = tensor(a), tensor(b), tensor(m)
   if m1.size[1] ~= m2.size[0] then
      raise('size mismatch, m1: %s, m2: %s', describe(m1), describe(m2))
   elseif from.nDimension ~= 2 then
      raise('matrix expected, got %dD tensor for t', from.nDimension)
   elseif from.size[0] ~= m1.size[0] or from.size[1] ~= m2.size[1] then
      raise('size mismatch, t: %s, m1: %s, m2: %s', describe(from), describe(m1), describe(m2))
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
      raise('size mismatch, %s, %s', describe(m1), describe(v))
   elseif from.nDimension ~= 1 then
      raise('vector expected, got t: %dD', from.nDimension)
   elseif from.size[0] ~= m1.size[0] then
      raise('size mismatch, t: %s, mat: %s', describe(from), describe(m1))
   end
   start(r, m)
   check(loops.addmv(r, a, x, beta, alpha), r, a, x)
end

local function outer(r, m, x, y, beta, alpha)
   local v, w, from = tensor(x), tensor(y), tensor(m)
   if from.nDimension ~= 2 then
      raise('expected matrix, got %dD tensor for t', from.nDimension)
   elseif from.size[0] ~= v.size[0] or from.size[1] ~= w.size[0] then
      raise('size mismatch, t: %s, vec1: %s, vec2: %s', describe(from), describe(v), describe(w))
   end
   start(r, m)
   check(loops.addr(r, x, y, beta, alpha), r, x, y)
end

-- Do two batches go together?
local function batched(m1, m2)
   if m1.size[0] ~= m2.size[0] then
      bad(2, 'equal number of batches expected, got %d, %d', tonumber(m1.size[0]), tonumber(m2.size[0]))
   elseif m1.size[2] ~= m2.size[1] then
      bad(2, 'wrong matrix size, batch1: %dx%d, batch2: %dx%d', tonumber(m1.size[1]), tonumber(m1.size[2]),
         tonumber(m2.size[1]), tonumber(m2.size[2]))
   end
end

-- Has t these sizes?
local function sized(t, ...)
   for d = 1, select('#', ...) do
      if d > t.nDimension then
         bad(2, 'dimension %d out of range of %dD tensor', d, t.nDimension)
      elseif t.size[d - 1] ~= select(d, ...) then
         bad(1, 'output tensor of incorrect size')
      end
   end
end

-- The k-th matrix of a batch.
local function batch(userdata, k)
   return userdata:select(1, k)
end

local function batches(r, m, a, b, beta, alpha)
   local m1, m2, from = tensor(a), tensor(b), tensor(m)
   batched(m1, m2)
   sized(from, m1.size[0], m1.size[1], m2.size[2])
   geometry.resizeas(tensor(r), from)
   if not elements[m1.dtype].integer then
      return aten.matmul(r, m, a, b, beta, alpha)
   end
   for k = 1, tonumber(m1.size[0]) do
      matrices(batch(r, k), batch(m, k), batch(a, k), batch(b, k), beta, alpha)
   end
end

-- The sum of a batch's products.
local function summed(r, m, a, b, beta, alpha)
   local m1, m2 = tensor(a), tensor(b)
   batched(m1, m2)
   sized(tensor(m), m1.size[1], m2.size[2])
   for k = 1, tonumber(m1.size[0]) do
      matrices(r, k == 1 and m or r, batch(a, k), batch(b, k), k == 1 and beta or 1, alpha)
   end
end

-- r = beta m + alpha a b. A method without m works on its result, where one number is alpha.
local function added(name, product, rank, first, second)
   local function both(r, beta, m, alpha, a, b)
      protected(product, r, m, a, b, beta, alpha)
      return r
   end
   local function scaled(r, m, alpha, a, b)
      protected(product, r, m, a, b, 1, alpha)
      return r
   end
   local m, operands = string.format('T~%dD', rank), first .. ' ' .. second
   return {name = name, types = NUMERIC, forms = {string.format('*T [real=1] %s [real=1] %s', m, operands), both},
      methods = {string.format('*%s %s+ [real=1] %s', m, m, operands), scaled,
         string.format('*%s real %s+ real %s', m, m, operands), both}}
end

-- r = a b. A result that is made has the product's sizes, of which the last `other` are b's; one that is given must
-- have them, and is set to zero first, also where a or b are read from it.
local function plain(name, product, first, second, n, one, other)
   local function run(r, a, b)
      local m1, m2 = tensor(a), tensor(b)
      if not r then
         r = object.newtensor(m1.dtype)
         for d = 0, n - 1 do
            scratch[d] = d < n - other and m1.size[d] or m2.size[d - n + one]
         end
         geometry.resize(tensor(r), n)
      elseif overlaps(tensor(r), m1) or overlaps(tensor(r), m2) then
         kernels.fill(r, 0)
      end
      protected(product, r, r, a, b, 0, 1)
      return r
   end
   return {name = name, types = NUMERIC, forms = {string.format('*T? %s %s', first, second), run}}
end

return {
   added('addmm', matrices, 2, 'T~2D', 'T~2D'),
   added('addmv', vectors, 1, 'T~2D', 'T~1D'),
   added('addr', outer, 2, 'T~1D', 'T~1D'),
   added('baddbmm', batches, 3, 'T~3D', 'T~3D'),
   added('addbmm', summed, 2, 'T~3D', 'T~3D'),
   plain('mm', matrices, 'T~2D', 'T~2D', 2, 2, 1),
   plain('mv', vectors, 'T~2D', 'T~1D', 1, 1, 0),
   plain('ger', outer, 'T~1D', 'T~1D', 2, 1, 1),
   plain('bmm', batches, 'T~3D', 'T~3D', 3, 3, 1),
}
