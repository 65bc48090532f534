-- What poolings have in common: sizes and torch's kernels. Letters name the axes, as in nn.shared.convolution.
--
-- `indices` says where in its plane each maximum was found, counted from 1; torch's kernels count from 0.
local ffi = require 'ffi'
local native = require 'bridge.native'
local aten = require 'torch.aten'
local kernels = require 'torch.kernels'
local object = require 'torch.object'
local longs = require 'nn.shared.longs'
local shape = require 'nn.shared.shape'
local plan = require 'nn.shared.plan'

local C, loops = native.C, kernels.loops

local pooling = {}

local counted = {} -- type of tensor -> indices of it counted from 0, on their way into a kernel

-- The fields of a pooling of volumes.
function pooling.volumetric(self, kT, kW, kH, dT, dW, dH, padT, padW, padH)
   self.kT = kT
   self.kH = kH
   self.kW = kW
   self.dT = dT or kT
   self.dW = dW or kW
   self.dH = dH or kH
   self.padT = padT or 0
   self.padW = padW or 0
   self.padH = padH or 0
   self.ceil_mode = false
end

-- A module's indices, which a change of its type has changed as well.
function pooling.indices(self)
   self.indices = longs.beside(self.indices, self.output)
   return self.indices
end

-- The elements of a plane: of the last n sizes of `input`.
local function planesize(input, n)
   local size, dimensions = 1, input:dim()
   for d = dimensions - n + 1, dimensions do
      size = size * input:size(d)
   end
   return size
end

local function invalid(input, n)
   error(string.format('found an invalid max index: they must be from 1 to %d', planesize(input, n)), 0)
end

-- Indices as torch's kernels want them, in a tensor that the next call overwrites. They must lie in planes of the last
-- n sizes of `input`, for the kernels do not look.
function pooling.fromzero(indices, input, n)
   local dtype = object.dtype(indices)
   local result = counted[dtype] or object.newtensor(dtype)
   counted[dtype] = result
   result:resizeAs(indices)
   if loops.index_from_zero(result, indices:contiguous(), planesize(input, n)) ~= 0 then
      invalid(input, n)
   end
   return result
end

-- Check a gradient against the sizes of the output.
function pooling.check(output, gradOutput)
   if gradOutput:dim() ~= output:dim() then
      error(string.format('gradOutput should have the shape of output, %s, but got %s', shape.text(output),
         shape.text(gradOutput)), 3)
   end
   for d = 1, output:dim() do
      shape.expect('gradOutput', gradOutput, d, output:size(d))
   end
end

-- A function from a module and its input to its windows (kernel, stride, padding, dilation) and the output's sizes.
-- What `prepare(windows, input, axes)` makes of them, if it is given, is kept in `native`.
function pooling.windows(letters, prepare)
   local n = #letters
   local K, D = shape.fields('k', letters), shape.fields('d', letters)
   local P, L = shape.fields('pad', letters), shape.fields('dilation', letters)

   local function describe(self)
      return {kernel = shape.values(self, K), stride = shape.values(self, D), padding = shape.values(self, P, 0),
         dilation = shape.values(self, L, 1)}
   end

   local function make(self, input)
      local w = describe(self)
      local batch = shape.batched(input, n + 1)
      shape.atleast('kernel size', 'k', letters, w.kernel, 1)
      shape.atleast('stride', 'd', letters, w.stride, 1)
      shape.atleast('dilation', 'dilation', letters, w.dilation, 1)
      local first = batch and 2 or 1
      local from, to = {input:size(1)}, {input:size(1)}
      from[first], to[first] = input:size(first), input:size(first)
      for i = 1, n do
         local size, kernel, padding = input:size(first + i), w.kernel[i], w.padding[i]
         if padding < 0 or padding > kernel / 2 then
            error(string.format('pad should be smaller than half of kernel size, but got %s = %s, %s = %s', P[i],
               tostring(padding), K[i], tostring(kernel)), 0)
         end
         from[first + i] = size
         to[first + i] = shape.pooled(size, kernel, w.stride[i], padding, w.dilation[i], self.ceil_mode)
      end
      shape.positive(from, to, 'x', first)
      w.to = to
      w.native = prepare and prepare(w, input, n)
      return w
   end

   local fields = {'ceil_mode'}
   for _, group in ipairs{K, D, P, L} do
      for _, field in ipairs(group) do
         fields[#fields + 1] = field
      end
   end
   return plan.keeper(fields, make)
end

-- The windows as the native loops take them; an image is a volume of depth 1.
local function volumes(w, input, n)
   if planesize(input, n) >= 2^31 then
      error(string.format('%s is too large: a plane of %d elements, at most 2^31 - 1 can be pooled', shape.text(input),
         planesize(input, n)), 0)
   end
   local first, c = input:dim() - n, ffi.new('br_windows', {planes = 1})
   for d = 1, first do
      c.planes = c.planes * input:size(d)
   end
   for d = 0, 2 do
      local i = d + 1 - (3 - n)
      local there = i >= 1
      c.from[d], c.to[d] = there and input:size(first + i) or 1, there and w.to[first + i] or 1
      c.kernel[d], c.stride[d] = there and w.kernel[i] or 1, there and w.stride[i] or 1
      c.padding[d], c.dilation[d] = there and w.padding[i] or 0, there and w.dilation[i] or 1
   end
   return c
end

-- updateOutput and updateGradInput of maxima.
function pooling.max(letters)
   local n = #letters
   local windows = pooling.windows(letters, volumes)
   return function(self, input)
      local w = windows(self, input)
      input = input:contiguous()
      local output, indices = plan.resize(self.output, w.to), plan.resize(pooling.indices(self), w.to)
      local to, places = output:contiguous(), indices:contiguous()
      local code = loops.max_pool(to, places, input, w.native)
      if code ~= 0 then
         kernels.fault(code, to, input)
      end
      if to ~= output then
         output:copy(to)
      end
      if places ~= indices then
         indices:copy(places)
      end
      return output
   end, function(self, input, gradOutput)
      local w = windows(self, input)
      plan.expect(w, gradOutput)
      local indices, gradInput = pooling.indices(self), self.gradInput:resizeAs(input)
      pooling.check(indices, gradOutput)
      gradOutput, indices = gradOutput:contiguous(), indices:contiguous()
      local to = gradInput:contiguous()
      local code = loops.max_pool_back(to, gradOutput, indices, w.native)
      if code == C.BR_INDEX then
         invalid(input, n)
      elseif code ~= 0 then
         kernels.fault(code, to, gradOutput)
      end
      if to ~= gradInput then
         gradInput:copy(to)
      end
      return gradInput
   end
end

-- updateOutput and updateGradInput of means.
function pooling.average(letters)
   local windows = pooling.windows(letters)
   local name = string.format('avg_pool%dd', #letters)
   local forward = aten.op(name .. '.out', 'TIIIbbnT')
   local backward = aten.op(name .. '_backward.grad_input', 'TTIIIbbnT')
   return function(self, input)
      local w = windows(self, input)
      plan.resize(self.output, w.to)
      forward(input, w.kernel, w.stride, w.padding, self.ceil_mode, self.count_include_pad, self.output)
      return self.output
   end, function(self, input, gradOutput)
      local w = windows(self, input)
      plan.expect(w, gradOutput)
      self.gradInput:resizeAs(input)
      backward(gradOutput, input, w.kernel, w.stride, w.padding, self.ceil_mode, self.count_include_pad, self.gradInput)
      return self.gradInput
   end
end

-- updateOutput and updateGradInput of sums over windows (of numbers that are all counted), for what weighs them itself.
function pooling.sum(n)
   local forward = aten.op(string.format('avg_pool%dd.out', n), 'TIIIbb?iT')
   local backward = aten.op(string.format('avg_pool%dd_backward.grad_input', n), 'TTIIIbb?iT')
   return function(output, input, kernel, stride, padding)
      forward(input, kernel, stride, padding, false, true, 1, output)
   end, function(gradInput, input, gradOutput, kernel, stride, padding)
      backward(gradOutput, input, kernel, stride, padding, false, true, 1, gradInput)
   end
end

-- nn.SpatialMaxPooling(3x3, 2,2, 1,1); the letters in the order of the constructor's arguments.
function pooling.text(self, letters)
   local function list(prefix, separator)
      local parts, zero = {}, true
      for i, value in ipairs(shape.values(self, shape.fields(prefix, letters), 0)) do
         parts[i], zero = tostring(value), zero and value == 0
      end
      return table.concat(parts, separator), zero
   end
   local padding, none = list('pad', ',')
   local text = string.format('%s(%s, %s%s', torch.type(self), (list('k', 'x')), (list('d', ',')),
      none and '' or ', ' .. padding)
   if self['dilation' .. letters:sub(1, 1)] then
      text = text .. ', ' .. (list('dilation', ','))
   end
   return text .. ')'
end

function pooling.ceil(self)
   self.ceil_mode = true
   return self
end

function pooling.floor(self)
   self.ceil_mode = false
   return self
end

return pooling
