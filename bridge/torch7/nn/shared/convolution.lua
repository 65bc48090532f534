-- What convolutions have in common: sizes, torch's kernels, gradients added to those of the parameters.
--
-- A kind of convolution is its axes, as the letters in the names of its fields (kH, dW, padT, ...), and a direction.
local aten = require 'torch.aten'
local shape = require 'nn.shared.shape'
local plan = require 'nn.shared.plan'

local names, values = shape.fields, shape.values

local convolution = {}

local withbias = aten.op('convolution.out', 'TT?TIIIbIiT')
local withoutbias = aten.op('convolution.out', 'TTnIIIbIiT')
local backward = aten.into('convolution_backward', 'TTT?IIIIbIiI', 3)

local INPUT, BOTH, WEIGHT = aten.list{1, 0, 0}, aten.list{0, 1, 1}, aten.list{0, 1, 0}
local buffers = {} -- tensor type -> gradients on their way to where they are added

local function buffer(role, like)
   local key = role .. like:type()
   buffers[key] = buffers[key] or like.new()
   return buffers[key]:resizeAs(like)
end

-- The kernels on batches; `g` holds stride, padding, dilation, transposed, adjust and groups.
function convolution.forward(output, input, weight, bias, g)
   if bias then
      withbias(input, weight, bias, g.stride, g.padding, g.dilation, g.transposed, g.adjust, g.groups, output)
   else
      withoutbias(input, weight, g.stride, g.padding, g.dilation, g.transposed, g.adjust, g.groups, output)
   end
end

function convolution.gradinput(gradInput, input, gradOutput, weight, g)
   backward(gradOutput, input, weight, {gradOutput:size(2)}, g.stride, g.padding, g.dilation, g.transposed, g.adjust,
      g.groups, INPUT, gradInput)
end

-- The gradients of weight and (if it has one) bias, in tensors that the next call overwrites.
function convolution.gradparameters(input, gradOutput, weight, bias, g)
   local gradWeight, gradBias = buffer('weight', weight), bias and buffer('bias', bias)
   backward(gradOutput, input, weight, {gradOutput:size(2)}, g.stride, g.padding, g.dilation, g.transposed, g.adjust,
      g.groups, bias and BOTH or WEIGHT, nil, gradWeight, gradBias)
   return gradWeight, gradBias
end

-- The functions output, gradinput and gradparameters for modules with these axes; all take a list of adjustments (what
-- a transposed convolution adds to its output's sizes) last. `view` gives a weight the dimensions of the kernels.
function convolution.kind(letters, transposed, view)
   local n = #letters
   local K, D, P = names('k', letters), names('d', letters), names('pad', letters)
   local L, A = names('dilation', letters), names('adj', letters)
   local separator = n == 2 and ' x ' or 'x'
   view = view or function(_, weight) return weight end

   local function describe(self, adjust)
      return {stride = values(self, D, 1), padding = values(self, P, 0), dilation = values(self, L, 1),
         transposed = transposed, adjust = adjust or values(self, A, 0), groups = self.groups or 1}
   end

   -- What the kernels want, and the sizes of the output.
   local function make(self, input, adjust)
      local g, batch, kernel = describe(self, adjust), shape.batched(input, n + 1), values(self, K)
      shape.atleast('kernel size', 'k', letters, kernel, 1)
      shape.atleast('stride', 'd', letters, g.stride, 1)
      shape.atleast('dilation', 'dilation', letters, g.dilation, 1)
      local first = batch and 2 or 1
      local from, to = {input:size(1)}, {input:size(1)}
      from[first], to[first] = input:size(first), self.nOutputPlane
      for i = 1, n do
         local size, place = input:size(first + i), first + i
         from[place] = size
         if transposed then
            to[place] = (size - 1) * g.stride[i] - 2 * g.padding[i] + g.dilation[i] * (kernel[i] - 1) + 1 + g.adjust[i]
         else
            to[place] = shape.places(size, kernel[i], g.stride[i], g.padding[i], g.dilation[i])
         end
      end
      shape.positive(from, to, separator, first)
      shape.expect('input', input, first, self.nInputPlane)
      local weight = view(self, self.weight)
      -- the planes that all groups share out among them come first, those of one group second
      local all, one = self.nOutputPlane, self.nInputPlane
      if transposed then
         all, one = one, all
      end
      shape.expect('weight', weight, 1, all)
      shape.expect('weight', weight, 2, one / g.groups)
      for i = 1, n do
         shape.expect('weight', weight, i + 2, kernel[i])
      end
      g.batch, g.to = batch, to
      return g
   end

   local fields = {'nInputPlane', 'nOutputPlane', 'groups'}
   for _, group in ipairs{K, D, P, L, A} do
      for _, field in ipairs(group) do
         fields[#fields + 1] = field
      end
   end
   local kept = plan.keeper(fields, make)

   -- An adjustment that follows from a target is never kept.
   local function find(self, input, adjust)
      return adjust and make(self, input, adjust) or kept(self, input)
   end

   local function output(self, input, adjust)
      local g = find(self, input, adjust)
      local out = plan.resize(self.output, g.to)
      if not g.batch then
         input, out = shape.single(input), shape.single(out)
      end
      convolution.forward(out, input, view(self, self.weight), self.bias, g)
      return self.output
   end

   local function gradinput(self, input, gradOutput, gradInput, adjust)
      local g = find(self, input, adjust)
      plan.expect(g, gradOutput)
      gradInput:resizeAs(input)
      local out = gradInput
      if not g.batch then
         input, gradOutput, out = shape.single(input), shape.single(gradOutput), shape.single(out)
      end
      convolution.gradinput(out, input, gradOutput, view(self, self.weight), g)
      return gradInput
   end

   local function gradparameters(self, input, gradOutput, scale, adjust)
      local g = find(self, input, adjust)
      plan.expect(g, gradOutput)
      if not g.batch then
         input, gradOutput = shape.single(input), shape.single(gradOutput)
      end
      local gradWeight, gradBias = convolution.gradparameters(input, gradOutput, view(self, self.weight), self.bias, g)
      self.gradWeight:add(scale or 1, gradWeight)
      if self.bias then
         self.gradBias:add(scale or 1, gradBias)
      end
   end

   return output, gradinput, gradparameters
end

-- ---- what their classes have in common

function convolution.noBias(self)
   self.bias = nil
   self.gradBias = nil
   return self
end

-- Draw weights and biases from [-stdv, stdv), or so that `inputs` numbers of variance one give an output of a third.
function convolution.reset(self, stdv, inputs)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(inputs)
   self.weight:uniform(-stdv, stdv)
   if self.bias then
      self.bias:uniform(-stdv, stdv)
   end
end

local function different(self, fields, from)
   for _, field in ipairs(fields) do
      if self[field] and self[field] ~= from then
         return true
      end
   end
   return false
end

-- ', 2,1' of the fields with this prefix.
local function part(self, prefix, letters)
   local list = {}
   for i = 1, #letters do
      list[i] = tostring(self[prefix .. letters:sub(i, i)])
   end
   return ', ' .. table.concat(list, ',')
end

-- nn.SpatialConvolution(3 -> 4, 3x2, 2,1, 1,1); the letters in the order of the constructor's arguments.
function convolution.text(self, letters, kernel)
   local text = string.format('%s(%s%s', torch.type(self), kernel,
      part(self, 'k', letters):sub(3):gsub(',', 'x'))
   local padded = different(self, names('pad', letters), 0)
   if padded or different(self, names('d', letters), 1) then
      text = text .. part(self, 'd', letters)
   end
   if padded then
      text = text .. part(self, 'pad', letters)
   end
   if self['dilation' .. letters:sub(1, 1)] then
      text = text .. part(self, 'dilation', letters)
   end
   if different(self, names('adj', letters), 0) then
      text = text .. part(self, 'adj', letters)
   end
   return text .. (self.bias and ')' or ') without bias')
end

-- 'nIn -> nOut, '
function convolution.planes(self)
   return string.format('%d -> %d, ', self.nInputPlane, self.nOutputPlane)
end

-- The fields of a convolution of images.
function convolution.planar(self, nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH)
   self.nInputPlane = nInputPlane
   self.nOutputPlane = nOutputPlane
   self.kW = kW
   self.kH = kH
   self.dW = dW or 1
   self.dH = dH or 1
   self.padW = padW or 0
   self.padH = padH or self.padW
end

function convolution.clearState(self)
   return nn.utils.clear(self, 'finput', 'fgradInput', '_input', '_gradOutput')
end

-- What the classes have alike: their buffers, and (with letters, as in convolution.text) how they are printed.
function convolution.methods(class, parent, letters)
   function class:type(type, tensorCache)
      if type then
         self.finput = self.finput and torch.Tensor()
         self.fgradInput = self.fgradInput and torch.Tensor()
      end
      return parent.type(self, type, tensorCache)
   end

   function class:clearState()
      convolution.clearState(self)
      return parent.clearState(self)
   end

   if letters then
      function class:__tostring__()
         return convolution.text(self, letters, convolution.planes(self))
      end
   end
end

-- Memory that Torch7 unfolds into; there is no need of it here, but programs expect it.
function convolution.compatible(self, letters)
   self.finput = self.finput or self.weight.new()
   self.fgradInput = self.fgradInput or self.weight.new()
   local last = 'pad' .. letters:sub(-1)
   if self.padding or not self[last] then -- old files have one `padding`, or none
      for i = 1, #letters do
         local field = 'pad' .. letters:sub(i, i)
         self[field] = self.padding or self[field] or 0
      end
      self.padding = nil
   end
end

return convolution
