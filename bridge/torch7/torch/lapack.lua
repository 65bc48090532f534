-- LAPACK and BLAS as torch's own library carries them, called by FFI without the GIL.
--
-- lapack.call('potrf', dtype, 'U', n, a, n) passes numbers by reference, strings as letters, and arrays as they are; it
-- returns LAPACK's `info`. Integers lie in 8 bytes each, so that it does not matter how wide the library's are.
local ffi = require 'ffi'
local elements = require 'torch.elements'
local aten = require 'torch.aten'

local FLOAT = elements.Float.id

-- A letter per argument: c a letter, i an integer, x an array of the matrix's type, n one of integers. LAPACK's have
-- `info` after these.
local signatures = {
   getrf = 'iixin',          -- m n a lda ipiv
   getrs = 'ciixinxi',       -- trans n nrhs a lda ipiv b ldb
   gels = 'ciiixixixi',      -- trans m n nrhs a lda b ldb work lwork
   syevd = 'ccixixxini',     -- jobz uplo n a lda w work lwork iwork liwork
   geev = 'ccixixxxixixi',   -- jobvl jobvr n a lda wr wi vl ldvl vr ldvr work lwork
   gesdd = 'ciixixxixixin',  -- jobz m n a lda s u ldu vt ldvt work lwork iwork
   potrf = 'cixi',           -- uplo n a lda
   potri = 'cixi',
   potrs = 'ciixixi',        -- uplo n nrhs a lda b ldb
   geqrf = 'iixixxi',        -- m n a lda tau work lwork
   orgqr = 'iiixixxi',       -- m n k a lda tau work lwork
   ormqr = 'cciiixixxixi',   -- side trans m n k a lda tau c ldc work lwork
   trsm = 'cccciixxixi',     -- side uplo trans diag m n alpha a lda b ldb
}
local blas = {trsm = true}
local ctype = {c = 'const char *', i = 'const int64_t *', x = 'void *', n = 'void *'}

local lapack = {}
local made = {} -- name with its type's letter -> function

-- Compile the function that calls `name` for one type.
local function make(name, letter)
   local kinds = signatures[name]
   local info = not blas[name]
   local types, names, values, before, lengths = {}, {}, {}, {}, 0
   for i = 1, #kinds do
      local kind = kinds:sub(i, i)
      types[i], names[i] = ctype[kind], 'a' .. i
      values[i] = kind == 'i' and 'cells + ' .. i or 'a' .. i
      if kind == 'i' then
         before[#before + 1] = string.format('   cells[%d] = a%d\n', i, i)
      elseif kind == 'c' then
         lengths = lengths + 1
      end
   end
   if info then
      types[#types + 1], values[#values + 1] = 'int64_t *', 'cells'
   end
   for _ = 1, lengths do -- Fortran passes the strings' lengths last
      types[#types + 1], values[#values + 1] = 'size_t', '1'
   end
   local symbol = letter .. name .. '_'
   ffi.cdef(string.format('void %s(%s);', symbol, table.concat(types, ', ')))
   local library = aten.ready()
   local found, f = pcall(function() return library[symbol] end)
   if not found then
      error(string.format('torch.%s: the torch of this Python was built without LAPACK (its library has no %s)', name,
         symbol), 0)
   end
   return assert(loadstring(string.format(
      'local f, cells, low = ...\nreturn function(%s)\n%s   cells[0] = 0\n   f(%s)\n   return low[0]\nend\n',
      table.concat(names, ', '), table.concat(before), table.concat(values, ', ')), '=torch.lapack.' .. symbol))(
      f, lapack.cells, ffi.cast('int32_t *', lapack.cells))
end

lapack.cells = ffi.new('int64_t[16]')

function lapack.call(name, dtype, ...)
   local letter = dtype == FLOAT and 's' or 'd'
   local key = letter .. name
   local f = made[key]
   if not f then
      f = make(name, letter)
      made[key] = f
   end
   return f(...)
end

-- An array of `count` numbers of a type.
function lapack.array(dtype, count)
   return ffi.new(dtype == FLOAT and 'float[?]' or 'double[?]', count)
end

-- Room for `count` integers of LAPACK's.
function lapack.integers(count)
   return ffi.new('int64_t[?]', count)
end

-- The i-th of LAPACK's integers, which are 8 bytes wide if the first of two pivots (the second is more than 1) says so.
local width
function lapack.integer(integers, i)
   if not width then
      local matrix, pivots = lapack.array(elements.Double.id, 4), lapack.integers(2)
      matrix[0], matrix[3] = 1, 1
      lapack.call('getrf', elements.Double.id, 2, 2, matrix, 2, pivots)
      width = pivots[0] == 1 and 'int64_t *' or 'int32_t *'
   end
   return tonumber(ffi.cast(width, integers)[i])
end

-- Call a function that says how much working memory it wants when it is asked with -1: run(work, length) calls it.
function lapack.worked(dtype, run)
   local answer = lapack.array(dtype, 1)
   local info = run(answer, -1)
   if info ~= 0 then
      return info
   end
   local length = math.max(1, math.ceil(tonumber(answer[0])))
   return run(lapack.array(dtype, length), length)
end

return lapack
