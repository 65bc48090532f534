-- What fractional poolings have in common: windows at random places, drawn for each plane of each image.
--
-- The output's size is given, or the ratio of it to the input's. Letters name the axes in the order of tensors.
local aten = require 'torch.aten'
local shape = require 'nn.shape'
local pooling = require 'nn.pooling'

-- Give a class its methods; `printed` has its axes in the order of the constructor's arguments and the random samples.
return function(class, parent, letters, printed)
   local n = #letters
   local name = string.format('fractional_max_pool%dd', n)
   local forward = aten.op(name .. '.output', 'TIITTT', 2)
   local backward = aten.op(name .. '_backward.grad_input', 'TTIITT')
   local windows, results = shape.fields('poolSize', letters), shape.fields('out', letters)
   local ratios = shape.fields('ratio', letters)

   -- Sizes of windows, then sizes (whole numbers) or ratios of the output, in the order of `printed`.
   function class:__init(...)
      parent.__init(self)
      local arguments = {...}
      local sized, ratio = true, true
      for i = 1, n do
         local size, out = arguments[i], arguments[n + i]
         if type(size) ~= 'number' or not (size >= 2) then
            error(string.format('pooling sizes must be numbers of at least 2, got %s', tostring(size)))
         elseif type(out) ~= 'number' then
            error(string.format('a size or a ratio of the output must be a number, got %s', tostring(out)))
         end
         sized, ratio = sized and out >= 1, ratio and out > 0 and out < 1
      end
      if not sized and not ratio then
         error('output sizes must be at least 1, or ratios of output and input all between 0 and 1')
      end
      for i = 1, n do
         local axis = printed:sub(i, i)
         self['poolSize' .. axis] = arguments[i]
         self[(sized and 'out' or 'ratio') .. axis] = arguments[n + i]
      end
      self.indices = torch.LongTensor()
   end

   -- Keep the windows that were drawn last.
   function class:fixPoolingRegions(value)
      self.donotResample = value == nil or value
      return self
   end

   local function draw(self, input, batch)
      local images, planes = batch and input:size(1) or 1, input:size(batch and 2 or 1)
      local samples = self.randomSamples
      if not samples or samples:size(1) ~= images or samples:size(2) ~= planes then
         self.randomSamples = input.new():resize(images, planes, n):uniform()
      elseif not self.donotResample then
         samples:uniform()
      end
   end

   -- The samples in the order of tensors' axes.
   local function ordered(samples)
      if n == 2 then
         return samples -- torch takes them for W and H, too
      end
      local columns = samples.new():resizeAs(samples)
      for i = 1, n do
         columns:select(3, i):copy(samples:select(3, printed:find(letters:sub(i, i))))
      end
      return columns
   end

   local function sizes(self, input, batch)
      local first = batch and 2 or 1
      local from, to = {input:size(first)}, {input:size(first)}
      for i = 1, n do
         local size, window = input:size(first + i), self[windows[i]]
         from[i + 1], to[i + 1] = size, math.floor(self[results[i]] or size * self[ratios[i]])
         if to[i + 1] + window - 1 > size - (n - 2) then -- torch's bound for volumes is one less
            error(string.format('pool%s (%d) too large relative to input of size %d and output of size %d',
               letters:sub(i, i), window, size, to[i + 1]), 0)
         end
      end
      shape.positive(from, to, 'x')
      return to
   end

   local function list(sizesofplanes)
      local out = {}
      for i = 1, n do
         out[i] = sizesofplanes[i + 1]
      end
      return out
   end

   function class:updateOutput(input)
      local batch = shape.batched(input, n + 1)
      local to = sizes(self, input, batch)
      draw(self, input, batch)
      local out = list(to)
      if batch then
         table.insert(to, 1, input:size(1))
      end
      local output, indices = shape.resize(self.output, to), shape.resize(pooling.indices(self), to)
      if not batch then
         input, output, indices = shape.single(input), shape.single(output), shape.single(indices)
      end
      forward(input, shape.values(self, windows), out, ordered(self.randomSamples), output, indices)
      self.indices:add(1)
      return self.output
   end

   function class:updateGradInput(input, gradOutput)
      if not self.randomSamples then
         error('must call updateOutput first', 2)
      end
      local batch = shape.batched(input, n + 1)
      local out = list(sizes(self, input, batch))
      pooling.check(self.indices, gradOutput)
      self.gradInput:resizeAs(input)
      local indices, gradInput = pooling.fromzero(pooling.indices(self), input, n), self.gradInput
      if not batch then
         gradOutput, input, gradInput = shape.single(gradOutput), shape.single(input), shape.single(gradInput)
         indices = shape.single(indices)
      end
      backward(gradOutput, input, shape.values(self, windows), out, indices, gradInput)
      return self.gradInput
   end

   function class:empty()
      return self:clearState()
   end

   function class:clearState()
      nn.utils.clear(self, 'indices')
      self.randomSamples = nil
      return parent.clearState(self)
   end

   function class:__tostring__()
      local out, window = {}, {}
      for i = 1, n do
         local axis = printed:sub(i, i)
         out[i] = tostring(self['out' .. axis] or self['ratio' .. axis])
         window[i] = string.format('%d', self['poolSize' .. axis])
      end
      return string.format('%s(%s, %s)', torch.type(self), table.concat(out, 'x'), table.concat(window, ','))
   end
end
