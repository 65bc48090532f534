-- Eigenvalues and singular values: symeig, eig, svd.
local native = require 'bridge.native'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local kernels = require 'torch.kernels'
local lapack = require 'torch.lapack'
local columns = require 'torch.columns'
local bad = require('torch.arguments').bad

local C = native.C
local tensor, keep = object.tensor, object.keep
local call, worked = lapack.call, lapack.worked
local of, room, finish, data, report = columns.of, columns.room, columns.finish, columns.data, columns.report

-- A contiguous vector to work on in the place of r.
local function vector(r, dtype, n, ...)
   local t = tensor(r)
   local usable = t.nDimension == 0 or geometry.contiguous(t)
   for i = 1, select('#', ...) do
      usable = usable and (t.storage == nil or t.storage ~= tensor((select(i, ...))).storage)
   end
   r = usable and r or object.newtensor(dtype)
   geometry.resize1(tensor(r), n)
   return r
end

-- LAPACK may never end on these.
local function finite(a)
   local sum = kernels.reduce(C.BR_SUM, a)
   if sum - sum ~= 0 then
      local largest = math.max(math.abs(kernels.reduce(C.BR_MAX, a)), math.abs(kernels.reduce(C.BR_MIN, a)))
      if not (largest < math.huge) then
         bad(1, 'A has elements that are infinite or not a number')
      end
   end
end

-- (eigenvalues, eigenvectors or what is left of A) of a symmetric matrix of which one triangle is read.
local function symeig(re, rv, a, jobz, uplo)
   local n = columns.square(a)
   finite(a)
   local dtype, integers = tensor(a).dtype, lapack.integers(1)
   local A = of(rv, a)
   local values = vector(re, dtype, n, a, A)
   call('syevd', dtype, jobz, uplo, n, data(A), n, data(values), lapack.array(dtype, 1), -1, integers, -1)
   local count = lapack.integer(integers, 0)
   integers = lapack.integers(count)
   local info = worked(dtype, function(work, length)
      return call('syevd', dtype, jobz, uplo, n, data(A), n, data(values), work, length, integers,
         length < 0 and -1 or count)
   end)
   report(info, 'syev', 'Lapack Error %s : %d off-diagonal elements didn\'t converge to zero')
   finish(A, rv)
   finish(values, re)
   return re, rv
end

-- (eigenvalues as n x 2 real and imaginary parts, eigenvectors); those are left alone unless asked for.
local function eig(re, rv, a, job)
   local n = columns.square(a)
   finite(a)
   local dtype = tensor(a).dtype
   local A, values = of(nil, a), object.newtensor(dtype)
   local vectors = job == 'V' and room(rv, dtype, n, n) or nil
   columns.resize2(values, 2, n)
   local info = worked(dtype, function(work, length)
      local real = data(values)
      return call('geev', dtype, 'N', job, n, data(A), n, real, real + n, nil, 1, vectors and data(vectors), n,
         work, length)
   end)
   report(info, 'geev', ' Lapack Error in %s : %d off-diagonal elements of an didn\'t converge to zero')
   columns.resize2(re, n, 2)
   kernels.copy(re, values:t())
   if vectors then
      finish(vectors, rv)
   end
   keep(A)
   return re, rv
end

-- A = U diag(S) V'; job 'S': as many columns as there are singular values, 'A': all.
local function svd(ru, rs, rv, a, job)
   local m, n = columns.matrix(1, a, 'A should be 2 dimensional')
   finite(a)
   local dtype, k = tensor(a).dtype, math.min(m, n)
   local A, S, V = of(nil, a), vector(rs, dtype, k, a), object.newtensor(dtype)
   local U = room(ru, dtype, m, job == 'A' and m or k, a)
   columns.resize2(V, n, n) -- read by rows, what LAPACK writes as V' in columns is V
   local integers = lapack.integers(8 * k)
   local info = worked(dtype, function(work, length)
      return call('gesdd', dtype, job, m, n, data(A), m, data(S), data(U), m, data(V), n, work, length, integers)
   end)
   report(info, 'gesvd', 'Lapack Error %s : %d superdiagonals failed to converge.')
   keep(A)
   finish(U, ru)
   finish(S, rs)
   local right = job == 'S' and V:narrow(2, 1, k) or V
   geometry.resizeas(tensor(rv), tensor(right))
   kernels.copy(rv, right)
   return ru, rs, rv
end

return {
   columns.row('symeig', '*T! *T!', 'T [N|V=N] [U|L=U]', {'T', 'T'}, symeig),
   columns.row('eig', '*T! *T!', 'T [N|V=N]', {'T', 'T'}, eig),
   columns.row('svd', '*T! *T! *T!', 'T [A|S=S]', {'T', 'T', 'T'}, svd),
}
