-- A matrix as an orthogonal and a triangular one: qr, and its steps geqrf, orgqr, ormqr.
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local lapack = require 'torch.lapack'
local columns = require 'torch.columns'

local tensor, keep = object.tensor, object.keep
local call, worked = lapack.call, lapack.worked
local of, finish, data, report = columns.of, columns.finish, columns.data, columns.report
local bad = require('torch.arguments').bad
local UNKNOWN = 'Lapack Error %s : unknown Lapack error. info = %d'

-- (R above reflectors, their scales)
local function geqrf(ra, rtau, a)
   local m, n = columns.matrix(1, a, 'A should be 2 dimensional')
   local dtype, k = tensor(a).dtype, math.min(m, n)
   local A, tau = of(ra, a), object.newtensor(dtype)
   geometry.resize1(tensor(tau), k)
   local info = worked(dtype, function(work, length)
      return call('geqrf', dtype, m, n, data(A), m, data(tau), work, length)
   end)
   report(info, 'geqrf', UNKNOWN)
   finish(A, ra)
   finish(tau, rtau)
   return ra, rtau
end

-- The scales of at most `limit` reflectors, in order, and how many.
local function scales(tau, limit)
   local t = tensor(tau)
   local k = geometry.elements(t)
   if k < 1 or k > limit then
      bad(2, 'tau should have 1 to %d elements, but has %d', limit, k)
   end
   return geometry.contiguous(t) and tau or tau:clone(), k
end

-- The orthogonal matrix of reflectors, as wide as a.
local function orgqr(r, a, tau)
   local m, n = columns.matrix(1, a, 'A should be 2 dimensional')
   local dtype, scale, k = tensor(a).dtype, scales(tau, math.min(m, n))
   local A = of(r, a, m, tau)
   local info = worked(dtype, function(work, length)
      return call('orgqr', dtype, m, k, k, data(A), m, data(scale), work, length)
   end)
   report(info, 'orgqr', UNKNOWN)
   finish(A, r)
   return r
end

-- The same times a matrix c, from one side, without making it.
local function ormqr(r, a, tau, c, side, trans)
   local rows, most = columns.matrix(1, a, 'A should be 2 dimensional')
   local m, n = columns.matrix(3, c, 'C should be 2 dimensional')
   local dtype, scale, k = tensor(a).dtype, scales(tau, math.min(rows, most))
   if rows ~= (side == 'L' and m or n) then
      bad(1, 'A,C size incompatible - A has %d rows, C is %dx%d', rows, m, n)
   end
   local A = of(nil, a)
   local result = of(r, c, m, tau)
   local info = worked(dtype, function(work, length)
      return call('ormqr', dtype, side, trans, m, n, k, data(A), rows, data(scale), data(result), m, work, length)
   end)
   report(info, 'ormqr', UNKNOWN)
   keep(A)
   finish(result, r)
   return r
end

local function qr(rq, rr, a)
   local m, n = columns.matrix(1, a, 'A should be 2 dimensional')
   local dtype, k = tensor(a).dtype, math.min(m, n)
   local reflectors, tau = geqrf(object.newtensor(dtype), object.newtensor(dtype), a)
   local upper = object.newtensor(dtype)
   upper:triu(reflectors:narrow(1, 1, k), 0)
   orgqr(rq, reflectors, tau)
   if k < n then
      rq:set(rq:narrow(2, 1, k))
   end
   geometry.resizeas(tensor(rr), tensor(upper))
   rr:copy(upper)
   return rq, rr
end

return {
   columns.row('qr', '*T! *T!', 'T', {'T', 'T'}, qr),
   columns.row('geqrf', '*T! *T!', 'T', {'T', 'T'}, geqrf),
   columns.row('orgqr', '*T!', 'T T', {'T'}, orgqr),
   columns.row('ormqr', '*T!', 'T T T [L|R=L] [N|T=N]', {'T'}, ormqr),
}
