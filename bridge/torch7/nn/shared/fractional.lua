-- What fractional poolings have in common: windows at random places, drawn for each plane of each image.
--
-- The output's size is given, or the ratio of it to the input's. Letters name the axes in the order of tensors.
local aten = require 'torch.aten'
local demand = require 'nn.shared.demand'
local shape = require 'nn.shared.shape'
local pooling = require 'nn.shared.pooling'

-- Give a class its methods; `printed` has its axes in the order of the constructor's arguments and the random samples,
-- `words` names them.
return function(class, parent, letters, printed, words)
   local n = #letters
   local name = string.format('fractional_max_pool%dd', n)
   local forward = aten.op(name .. '.output', 'TIITTT', 2)
   local backward = aten.op(name .. '_backward.grad_input', 'TTIITT')
   local windows = shape.fields('poolSize', letters)

   -- Sizes of windows, then sizes (whole numbers) or ratios of the output, in the order of `printed`.
   function class:__init(...)
      parent.__init(self)
      local arguments = {...}
      local sized = true
      for i = 1, n do
         assert(arguments[i] >= 2)
         sized = sized and arguments[n + i] >= 1
      end
      for i = 1, n do
         local axis, out = printed:sub(i, i), arguments[n + i]
         assert(sized or out > 0 and out < 1)
         self['poolSize' .. axis] = arguments[i]
         self[(sized and 'out' or 'ratio') .. axis] = out
      end
      self.newRandomPool = false -- are windows kept? see fixPoolingRegions
   end

   -- Keep the windows that were drawn last.
   function class:fixPoolingRegions(value)
      self.newRandomPool = value == nil or value
      return self
   end

   local function batched(input)
      if input:dim() ~= n + 1 and input:dim() ~= n + 2 then
         error(string.format('input must be dim %d or %d', n + 1, n + 2), 3)
      end
      return input:dim() == n + 2
   end

   -- How many samples are drawn for an input.
   function class:getBufferSize_(input)
      local batch = batched(input)
      return torch.LongStorage{batch and input:size(1) or 1, input:size(batch and 2 or 1), n}
   end

   function class:initSampleBuffer_(input)
      local size, samples = self:getBufferSize_(input), self.randomSamples
      if not samples then
         self.randomSamples = input.new():resize(size):uniform()
      elseif samples:size(1) ~= size[1] or samples:size(2) ~= size[2] then
         samples:resize(size):uniform()
      elseif not self.newRandomPool then
         samples:uniform()
      end
   end

   -- The output's sizes in the order of the constructor's arguments.
   function class:getOutputSizes_(input)
      local batch, sizes = batched(input), {}
      for i = 1, n do
         local axis = printed:sub(i, i)
         local place = letters:find(axis, 1, true)
         sizes[i] = self['out' .. axis]
         if self['ratio' .. axis] then
            sizes[i] = math.floor(input:size(place + (batch and 2 or 1)) * self['ratio' .. axis])
            assert(sizes[i] > 0, 'reduction ratio or input ' .. words[axis] .. ' too small')
         end
      end
      return unpack(sizes)
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

   -- The output's sizes in the order of tensors' axes.
   local function sizes(self, input)
      local given, first, list = {self:getOutputSizes_(input)}, batched(input) and 2 or 1, {}
      for i = 1, n do
         local axis = letters:sub(i, i)
         local place = printed:find(axis, 1, true)
         local size, window = input:size(first + i), self['poolSize' .. axis]
         list[i] = given[place]
         if list[i] + window - 1 > size - (n - 2) then -- the bound for volumes is one less
            local text = 'poolSize%s (%d) too large relative to input %s (%d)'
            demand.refuse(n == 2 and 7 - place or 6 + place, text:format(axis, window, words[axis], size))
         end
      end
      return list
   end

   -- The sizes of the whole output.
   local function whole(input, out)
      local to = {input:size(1)}
      if batched(input) then
         to[2] = input:size(2)
      end
      for i = 1, n do
         to[#to + 1] = out[i]
      end
      return to
   end

   function class:updateOutput(input)
      self.indices = pooling.indices(self)
      self:initSampleBuffer_(input)
      local out = sizes(self, input)
      local to = whole(input, out)
      local output, indices = shape.resize(self.output, to), shape.resize(self.indices, to)
      if not batched(input) then
         input, output, indices = shape.single(input), shape.single(output), shape.single(indices)
      end
      forward(input, shape.values(self, windows), out, ordered(self.randomSamples), output, indices)
      self.indices:add(1)
      return self.output
   end

   function class:updateGradInput(input, gradOutput)
      assert(self.randomSamples ~= nil, 'must call updateOutput/forward first')
      local out = sizes(self, input)
      for i = n, 1, -1 do
         if gradOutput:dim() ~= input:dim() or gradOutput:size(input:dim() - n + i) ~= out[i] then
            demand.refuse(3, 'gradOutput ' .. words[letters:sub(i, i)] .. ' unexpected')
         end
      end
      pooling.check(self.indices, gradOutput)
      self.gradInput:resizeAs(input)
      local indices, gradInput = pooling.fromzero(pooling.indices(self), input, n), self.gradInput
      if not batched(input) then
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
      self.indices, self.randomSamples = nil, nil
      return parent.clearState(self)
   end

   function class:__tostring__()
      local out, window = {}, {}
      for i = 1, n do
         local axis = printed:sub(i, i)
         out[i] = string.format('%d', self['out' .. axis] or self['ratio' .. axis]) -- 0 for a ratio, as in the original
         window[i] = string.format('%d', self['poolSize' .. axis])
      end
      return string.format('%s(%s, %s)', torch.type(self), table.concat(out, 'x'), table.concat(window, ','))
   end
end
