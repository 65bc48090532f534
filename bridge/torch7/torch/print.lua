-- Tensors and storages as text: integers flush right, reals with four decimals, a common factor or exponents where
-- the values need it, matrices wrapped at 80 columns, more dimensions as a list of matrices.
local ffi = require 'ffi'

local format, floor, ceil, log10, abs = string.format, math.floor, math.ceil, math.log10, math.abs
local WIDTH = 80
local doubles = ffi.typeof('double[?]')
local number = require('torch.number')[require('torch.elements').Double.id]

-- Digits before the decimal point of a magnitude.
local function digits(x)
   return x == 0 and 1 or floor(log10(x)) + 1
end

-- How `n` numbers are printed: a format, a factor common to all (or nil), the width of one.
local function layout(values, n)
   local whole = true
   local least, most = math.huge, 0
   for i = 0, n - 1 do
      local x = number(values, i)
      if x ~= x then -- there is no width with NaN: plain %f, in one line
         return '%f', nil, x
      end
      whole = whole and x == ceil(x)
      x = abs(x)
      least = x < least and x or least
      most = x > most and x or most
   end
   least, most = digits(least), digits(most)
   if whole then
      if most > 9 then
         return '%11.4e', nil, 11
      end
      return '%' .. most + 1 .. 'd', nil, most + 1
   elseif most - least > 4 then
      local width = (abs(most) > 99 or abs(least) > 99) and 12 or 11
      return '%' .. width .. '.4e', nil, width
   elseif most > 5 or most < 0 then
      return '%7.4f', 10 ^ (most - 1), 7
   end
   local width = most == 0 and 7 or most + 6
   return '%' .. width .. '.4f', nil, width
end

-- Numbers one below the other.
local function column(out, values, n)
   local fmt, scale = layout(values, n)
   if scale then
      out[#out + 1] = format('%g *\n', scale)
   end
   for i = 0, n - 1 do
      out[#out + 1] = format(fmt, number(values, i) / (scale or 1))
      out[#out + 1] = '\n'
   end
end

local function row(fmt, scale, values, first, last)
   local cells = {}
   for i = first, last do
      cells[#cells + 1] = format(fmt, number(values, i) / scale)
   end
   return table.concat(cells, ' ')
end

local function matrix(out, values, rows, columns, indent, fmt, scale, width)
   local per = floor((WIDTH - #indent) / (width + 1))
   if not (per < columns) then
      per = columns
   end
   out[#out + 1] = indent
   for first = 0, columns - 1, per do
      local last = math.min(first + per, columns) - 1
      if per < columns then
         out[#out + 1] = format('%sColumns %d to %d\n%s', first > 0 and '\n' or '', first + 1, last + 1, indent)
      end
      if scale then
         out[#out + 1] = format('%g *\n %s', scale, indent)
      end
      for i = 0, rows - 1 do
         out[#out + 1] = i > 0 and indent .. (scale and ' ' or '') or ''
         out[#out + 1] = row(fmt, scale or 1, values, i * columns + first, i * columns + last)
         out[#out + 1] = '\n'
      end
   end
end

-- The matrices of a contiguous tensor with more dimensions, the first index running fastest. All are printed in the
-- same way.
local function matrices(out, tensor)
   local dimensions = tensor:dim()
   local outer = dimensions - 2
   local rows, columns = tensor:size(dimensions - 1), tensor:size(dimensions)
   local values, at, count = tensor:data(), {}, 1
   for d = 1, outer do
      at[d] = 1
      count = count * tensor:size(d)
   end
   local fmt, scale, width = layout(values, count * rows * columns)
   for k = 1, count do
      local offset = 0
      for d = 1, outer do
         offset = offset + (at[d] - 1) * tensor:stride(d)
      end
      out[#out + 1] = format('%s(%s,.,.) = \n', k > 1 and '\n' or '', table.concat(at, ','))
      matrix(out, values + offset, rows, columns, ' ', fmt, scale, width)
      local d = 1
      while d <= outer and at[d] == tensor:size(d) do
         at[d] = 1
         d = d + 1
      end
      if d <= outer then
         at[d] = at[d] + 1
      end
   end
end

local function tensortext(tensor, typename)
   local dimensions = tensor:dim()
   if dimensions == 0 then
      return format('[%s with no dimension]\n', typename)
   end
   local out, sizes = {}, {}
   for d = 1, dimensions do
      sizes[d] = tensor:size(d)
   end
   local values = tensor:double():contiguous()
   if dimensions == 1 then
      column(out, values:data(), sizes[1])
   elseif dimensions == 2 then
      matrix(out, values:data(), sizes[1], sizes[2], '', layout(values:data(), sizes[1] * sizes[2]))
   else
      matrices(out, values)
   end
   out[#out + 1] = format('[%s of size %s]\n', typename, table.concat(sizes, 'x'))
   return table.concat(out), values
end

local function storagetext(storage, typename)
   local n = storage:size()
   local values = doubles(n)
   for i = 1, n do
      values[i - 1] = storage[i]
   end
   local out = {}
   column(out, values, n)
   out[#out + 1] = format('[%s of size %d]\n', typename, n)
   return table.concat(out)
end

return function(torch)
   for _, name in ipairs{'Byte', 'Char', 'Short', 'Int', 'Long', 'Half', 'Float', 'Double'} do
      local tensor = 'torch.' .. name .. 'Tensor'
      torch.getmetatable(tensor).__tostring__ = function(self)
         return (tensortext(self, tensor))
      end
      local storage = 'torch.' .. name .. 'Storage'
      torch.getmetatable(storage).__tostring__ = function(self)
         return storagetext(self, storage)
      end
   end
end
