-- Systems of linear equations: gesv, gels, trtrs, inverse.
local object = require 'torch.object'
local lapack = require 'torch.lapack'
local columns = require 'torch.columns'
local native = require 'bridge.native'

local C = native.C
local tensor, keep = object.tensor, object.keep
local call, worked = lapack.call, lapack.worked
local of, room, finish, data, report, operands = columns.of, columns.room, columns.finish, columns.data, columns.report,
   columns.operands
local BLOCK = 64 -- columns up to which a triangle is inverted without BLAS

-- (solution, factors) of A X = B
local function gesv(rb, ra, b, a)
   local n, _, count = operands(b, a, true)
   local dtype, pivots = tensor(a).dtype, lapack.integers(n)
   local A = of(ra, a, n, b)
   local B = of(rb, b, n, a, A)
   local info = call('getrf', dtype, n, n, data(A), n, pivots)
   report(info, 'gesv', 'Lapack Error in %s : U(%d,%d) is zero, singular U.')
   info = call('getrs', dtype, 'N', n, count, data(A), n, pivots, data(B), n)
   report(info, 'gesv', 'Lapack Error in %s : U(%d,%d) is zero, singular U.')
   finish(A, ra)
   finish(B, rb)
   return rb, ra
end

-- The X for which |A X - B| is least, or the least X of many; and A's factors.
local function gels(rb, ra, b, a)
   local m, n, count = operands(b, a)
   local dtype, most = tensor(a).dtype, math.max(m, n)
   local A = of(ra, a, m, b)
   local B = of(rb, b, most, a, A)
   local info = worked(dtype, function(work, length)
      return call('gels', dtype, 'N', m, n, count, data(A), m, data(B), most, work, length)
   end)
   report(info, 'gels', 'Lapack Error in %s : The %d-th diagonal element of the triangular factor of A is zero')
   local solution = tensor(B)
   C.br_tensor_changed(solution)
   solution.size[0] = n
   finish(A, ra)
   finish(B, rb)
   return rb, ra
end

-- A X = B with a triangular A.
local function trtrs(rb, ra, b, a, uplo, trans, diag)
   local n, _, count = operands(b, a, true)
   local dtype = tensor(a).dtype
   local A = of(ra, a, n, b)
   local B = of(rb, b, n, a, A)
   local pa, pb, one = data(A), data(B), lapack.array(dtype, 1)
   for i = 0, diag == 'N' and n - 1 or -1 do
      if pa[i * n + i] == 0 then
         report(i + 1, 'trtrs', 'Lapack Error in %s : A(%d,%d) is zero, singular A')
      end
   end
   one[0] = 1
   call('trsm', dtype, 'L', uplo, trans, diag, n, count, one, pa, n, pb, n)
   keep(A, B)
   finish(A, ra)
   finish(B, rb)
   return rb, ra
end

-- Columns first .. last - 1 of x, which hold those of an upper triangle u: the block on the diagonal, inverted.
local function invertBlock(x, u, n, first, last)
   for j = first, last - 1 do
      local inverse = 1 / u[j * n + j]
      x[j * n + j] = inverse
      for i = first, j - 1 do
         local sum = 0
         for k = i, j - 1 do
            sum = sum + x[k * n + i] * u[j * n + k]
         end
         x[j * n + i] = sum * -inverse
      end
   end
end

-- X = the inverse of the upper triangle of U, with zeros below.
local function invertUpper(X, U, n)
   local dtype, x, u = tensor(X).dtype, data(X), data(U)
   local minus, one = lapack.array(dtype, 1), lapack.array(dtype, 1)
   minus[0], one[0] = -1, 1
   for first = 0, n - 1, BLOCK do
      local last = math.min(first + BLOCK, n)
      for j = first, last - 1 do
         for i = 0, n - 1 do
            x[j * n + i] = i < first and u[j * n + i] or 0
         end
      end
      if first > 0 then
         local block = u + first * n + first
         call('trsm', dtype, 'L', 'U', 'N', 'N', first, last - first, minus, u, n, x + first * n, n)
         call('trsm', dtype, 'R', 'U', 'N', 'N', first, last - first, one, block, n, x + first * n, n)
      end
      invertBlock(x, u, n, first, last)
   end
   keep(X, U)
end

-- Undo the exchanges of rows that getrf made, in columns.
local function exchange(X, pivots, n)
   local x = data(X)
   for j = n - 1, 0, -1 do
      local other = lapack.integer(pivots, j) - 1
      for i = 0, other ~= j and n - 1 or -1 do
         x[j * n + i], x[other * n + i] = x[other * n + i], x[j * n + i]
      end
   end
   keep(X)
end

local function inverse(r, a)
   local n = columns.square(a)
   local dtype, pivots, one = tensor(a).dtype, lapack.integers(n), lapack.array(tensor(a).dtype, 1)
   local factors = of(nil, a)
   local info = call('getrf', dtype, n, n, data(factors), n, pivots)
   report(info, 'getrf', 'Lapack Error %s : U(%d,%d) is 0, U is singular')
   local X = room(r, dtype, n, n)
   invertUpper(X, factors, n)
   one[0] = 1
   call('trsm', dtype, 'R', 'L', 'N', 'U', n, n, one, data(factors), n, data(X), n)
   exchange(X, pivots, n)
   keep(factors)
   finish(X, r)
   return r
end

return {
   columns.row('gesv', '*T! *T!', 'T T', {'T', 'T'}, gesv),
   columns.row('gels', '*T! *T!', 'T T', {'T', 'T'}, gels),
   columns.row('trtrs', '*T! *T!', 'T T [U|L=U] [N|T=N] [N|U=N]', {'T', 'T'}, trtrs),
   columns.row('inverse', '*T!', 'T', {'T'}, inverse),
}
