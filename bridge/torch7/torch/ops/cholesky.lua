-- Positive definite matrices: potrf, potrs, potri, and pstrf, which exchanges rows.
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local lapack = require 'torch.lapack'
local columns = require 'torch.columns'
local elements = require 'torch.elements'

local tensor, keep = object.tensor, object.keep
local call = lapack.call
local of, finish, data, report = columns.of, columns.finish, columns.data, columns.report

local function potrf(r, a, uplo)
   local n = columns.square(a)
   local A = of(r, a)
   local info = call('potrf', tensor(a).dtype, uplo, n, data(A), n)
   report(info, 'potrf', 'Lapack Error %s : A(%d,%d) is 0, A cannot be factorized')
   columns.triangle(A, uplo)
   finish(A, r)
   return r
end

-- The inverse of a matrix that potrf factorised.
local function potri(r, a, uplo)
   local n = columns.square(a)
   local A = of(r, a)
   local info = call('potri', tensor(a).dtype, uplo, n, data(A), n)
   report(info, 'potri', 'Lapack Error %s : A(%d,%d) is 0, A cannot be factorized')
   columns.triangle(A, uplo, true)
   finish(A, r)
   return r
end

-- A X = B, where a holds the factor of A that potrf made.
local function potrs(r, b, a, uplo)
   local n, _, count = columns.operands(b, a, true)
   local A = of(nil, a)
   local B = of(r, b, n)
   local info = call('potrs', tensor(a).dtype, uplo, n, count, data(A), n, data(B), n)
   keep(A)
   report(info, 'potrs', 'Lapack Error in %s : A(%d,%d) is zero, singular A.')
   finish(B, r)
   return r
end

-- Exchange rows and columns j and p of the matrix of which the triangle at a(i, j) = a[i * down + j * right], i <= j,
-- is kept and whose first j rows are done.
local function exchange(a, n, down, right, j, p)
   a[p * down + p * right] = a[j * down + j * right]
   for i = 0, j - 1 do
      local one, other = i * down + j * right, i * down + p * right
      a[one], a[other] = a[other], a[one]
   end
   for i = p + 1, n - 1 do
      local one, other = j * down + i * right, p * down + i * right
      a[one], a[other] = a[other], a[one]
   end
   for i = j + 1, p - 1 do
      local one, other = j * down + i * right, i * down + p * right
      a[one], a[other] = a[other], a[one]
   end
end

-- Cholesky's factorisation with the greatest remaining diagonal element first; what stays below `tolerance` counts as
-- nothing. Is the matrix positive definite so far?
local function pivoted(a, n, down, right, pivots, tolerance)
   local sums = lapack.array(elements.Double.id, n)
   for j = 0, n - 1 do
      local p, best = j, -math.huge
      for i = j, n - 1 do
         local above = j > 0 and a[(j - 1) * down + i * right] or 0
         sums[i] = sums[i] + above * above
         local left = a[i * down + i * right] - sums[i]
         if left > best or left ~= left then
            p, best = i, left
         end
      end
      if j == 0 and tolerance < 0 then
         tolerance = -tolerance * n * best
      end
      if not (best > math.max(j == 0 and 0 or tolerance, 0)) then
         return false
      end
      if p ~= j then
         exchange(a, n, down, right, j, p)
         sums[j], sums[p] = sums[p], sums[j]
         pivots[j], pivots[p] = pivots[p], pivots[j]
      end
      local pivot = math.sqrt(best)
      a[j * down + j * right] = pivot
      for i = j + 1, n - 1 do
         local sum = a[j * down + i * right]
         for k = 0, j - 1 do
            sum = sum - a[k * down + j * right] * a[k * down + i * right]
         end
         a[j * down + i * right] = sum / pivot
      end
   end
   return true
end

-- (factor, the order of the rows); a negative tolerance stands for the rounding error of the type.
local function pstrf(r, order, a, uplo, tolerance)
   local n = columns.square(a)
   local A = of(r, a)
   geometry.resize1(tensor(order), n)
   local rounding = tensor(a).dtype == elements.Float.id and 2^-24 or 2^-53
   local indices = order:isContiguous() and order or order:clone()
   local pivots = data(indices)
   for i = 0, n - 1 do
      pivots[i] = i + 1
   end
   local definite = pivoted(data(A), n, uplo == 'U' and 1 or n, uplo == 'U' and n or 1, pivots,
      tolerance < 0 and -rounding or tolerance)
   keep(A, indices)
   report(definite and 0 or 1, 'pstrf', 'Lapack Error %s : matrix is rank deficient or not positive semidefinite')
   columns.triangle(A, uplo)
   finish(A, r)
   finish(indices, order)
   return r, order
end

return {
   columns.row('potrf', '*T!', 'T [U|L=U]', {'T'}, potrf),
   columns.row('potri', '*T!', 'T [U|L=U]', {'T'}, potri),
   columns.row('potrs', '*T!', 'T T [U|L=U]', {'T'}, potrs),
   columns.row('pstrf', '*T! *Int!', 'T [U|L=U] [real=-1]', {'T', 'Int'}, pstrf),
}
