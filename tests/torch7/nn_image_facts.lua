-- Facts of nn's modules for images, volumes and sequences, by name; each returns true.
local facts = {}

local function close(a, b)
   return (a - b):abs():max() < 1e-12
end

facts['indices count from 1 and are LongTensors after a change of type'] = function()
   local m = nn.SpatialMaxPooling(2, 2)
   m:forward(torch.range(1, 16):view(1, 4, 4))
   local before = torch.type(m.indices) == 'torch.LongTensor' and m.indices[1][1][1] == 6 and m.indices[1][2][2] == 16
   m:float()
   m:forward(torch.range(1, 16):float():view(1, 4, 4))
   return before and torch.type(m.indices) == 'torch.LongTensor' and m.indices[1][1][1] == 6
end

facts['indices of frames count within their window, from 0'] = function()
   local m = nn.TemporalMaxPooling(2, 2)
   m:forward(torch.Tensor{{1, 9}, {2, 8}, {3, 1}, {0, 2}})
   return m.indices[1][1] == 1 and m.indices[1][2] == 0 and m.indices[2][1] == 0 and m.indices[2][2] == 1
end

facts['output and gradInput are the same tensors at every call'] = function()
   for _, m in ipairs{nn.SpatialConvolution(1, 2, 3, 3), nn.SpatialMaxPooling(2, 2), nn.SpatialBatchNormalization(1),
         nn.SpatialUpSamplingNearest(2), nn.SpatialZeroPadding(1)} do
      local x = torch.randn(2, 1, 6, 6)
      local y = m:forward(x)
      local g = m:backward(x, y:clone())
      if not rawequal(m:forward(torch.randn(3, 1, 4, 4)), y) or not rawequal(m:backward(torch.randn(3, 1, 4, 4),
            y:clone()), g) then
         return false
      end
   end
   return true
end

facts['gradients of parameters add up, times a scale'] = function()
   for _, ctor in ipairs{'nn.SpatialConvolution(2,3,3,3)', 'nn.SpatialConvolutionMM(2,3,3,3)',
         'nn.SpatialConvolutionMap(nn.tables.full(2,3),3,3)', 'nn.SpatialConvolutionLocal(2,3,5,5,3,3)',
         'nn.SpatialFullConvolution(2,3,3,3)', 'nn.SpatialDepthWiseConvolution(2,2,3,3)',
         'nn.SpatialSubSampling(2,2,2)', 'nn.SpatialBatchNormalization(2)'} do
      local m, x = loadstring('return ' .. ctor)(), torch.randn(2, 2, 5, 5)
      local g = torch.randn(m:forward(x):size())
      m:zeroGradParameters()
      m:updateGradInput(x, g)
      m:accGradParameters(x, g)
      local weight, bias = m.gradWeight:clone(), m.gradBias:clone()
      m:backward(x, g, 0.5)
      if not close(m.gradWeight, weight * 1.5) or not close(m.gradBias, bias * 1.5) then
         return false
      end
   end
   return true
end

facts['a changed field changes the result'] = function()
   local m, x = nn.SpatialConvolution(1, 1, 3, 3), torch.randn(1, 1, 6, 6)
   m:forward(x)
   m.padW, m.padH = 1, 1
   local padded = m:forward(x):size(4) == 6
   m.dW = 2
   local pool = nn.SpatialMaxPooling(2, 2)
   pool:forward(torch.randn(1, 5, 5))
   return padded and m:forward(x):size(4) == 3 and pool:ceil():forward(torch.randn(1, 5, 5)):size(2) == 3
      and pool:floor():forward(torch.randn(1, 5, 5)):size(2) == 2
end

facts['clearState empties buffers and keeps what was learned'] = function()
   local m, x = nn.SpatialBatchNormalization(2), torch.randn(3, 2, 4, 4)
   m:backward(x, m:forward(x):clone())
   local mean = m.running_mean:clone()
   m:clearState()
   local pool = nn.SpatialMaxPooling(2, 2)
   pool:forward(x)
   pool:clearState()
   return m.output:nElement() == 0 and m.save_mean:nElement() == 0 and close(m.running_mean, mean)
      and pool.indices:nElement() == 0 and pool:forward(x):size(3) == 2
end

facts['old files: one padding, matrices of weights'] = function()
   local m, x = nn.SpatialConvolution(2, 3, 3, 3, 1, 1, 1, 1), torch.randn(2, 5, 5)
   local y = m:forward(x):clone()
   m.padW, m.padH, m.padding = nil, nil, 1
   m.finput, m.fgradInput = nil, nil
   m.weight, m.gradWeight = m.weight:view(3, 18), m.gradWeight:view(3, 18)
   local same = close(m:forward(x), y)
   m:backward(x, y)
   return same and m.padW == 1 and m.padH == 1 and m.padding == nil and m.weight:dim() == 4 and m.gradWeight:dim() == 4
end

facts['old files: running_std'] = function()
   local m = nn.BatchNormalization(2)
   local file = {readObject = function() return {eps = 1e-5, running_std = torch.Tensor{0.5, 2}} end}
   m:read(file, 1)
   return math.abs(m.running_var[1] - (4 - 1e-5)) < 1e-12 and m.running_std == nil
end

facts['evaluation of a batch norm takes the averages, and a single image'] = function()
   local m = nn.SpatialBatchNormalization(2)
   m:forward(torch.randn(5, 2, 3, 3) + 1)
   m:evaluate()
   local x = torch.randn(2, 3, 3)
   local expected = torch.Tensor(2, 3, 3)
   for c = 1, 2 do
      expected[c] = (x[c] - m.running_mean[c]) / math.sqrt(m.running_var[c] + m.eps) * m.weight[c]
   end
   return close(m:forward(x), expected)
end

facts['a dropped plane is dropped whole'] = function()
   for _, case in ipairs{{nn.SpatialDropout(0.5), {4, 16, 3, 3}}, {nn.SpatialDropout(0.5), {16, 3, 3}},
         {nn.VolumetricDropout(0.5), {4, 16, 2, 3, 3}}, {nn.VolumetricDropout(0.5), {16, 2, 3, 3}}} do
      local m, x = case[1], torch.ones(unpack(case[2]))
      local y = m:forward(x)
      local planes = y:view(-1, case[2][#case[2] - 1] * case[2][#case[2]] * (#case[2] > 3 and torch.type(m) ==
         'nn.VolumetricDropout' and 2 or 1))
      local sums = planes:sum(2)
      local size = planes:size(2)
      if sums:eq(0):sum() + sums:eq(size):sum() ~= planes:size(1) or sums:eq(0):sum() == 0 or sums:eq(0):sum() ==
            planes:size(1) then
         return false
      end
      local g = m:backward(x, x)
      m:evaluate()
      if not close(g, y) or not close(m:forward(x), x * 0.5) then
         return false
      end
   end
   return true
end

facts['windows that were fixed stay'] = function()
   local m, x = nn.SpatialFractionalMaxPooling(2, 2, 0.6, 0.6):fixPoolingRegions(), torch.randn(1, 4, 12, 12)
   local y = m:forward(x):clone()
   local again = close(m:forward(x), y)
   m:fixPoolingRegions(false)
   return again and not close(m:forward(x), y)
end

facts['a connection table connects each plane with as many as asked'] = function()
   torch.manualSeed(1)
   local t = nn.tables.random(4, 6, 2)
   local seen = {}
   for i = 1, t:size(1) do
      local from, to = t[i][1], t[i][2]
      if from < 1 or from > 4 or to ~= math.ceil(i / 2) or seen[to * 10 + from] then
         return false
      end
      seen[to * 10 + from] = true
   end
   local one = nn.tables.oneToOne(3)
   return t:size(1) == 12 and one[2][1] == 2 and one[3][2] == 3
end

facts['a target gives its size to a full convolution'] = function()
   local m = nn.SpatialFullConvolution(2, 1, 3, 3, 2, 2, 1, 1)
   local x, target = torch.randn(2, 4, 4), torch.randn(1, 8, 7)
   local y = m:forward{x, target}
   local g = m:backward({x, target}, y:clone())
   return y:size(2) == 8 and y:size(3) == 7 and g[1]:isSameSizeAs(x) and g[2]:isSameSizeAs(target) and g[2]:sum() == 0
end

facts['divide is a field'] = function()
   local m = nn.SpatialAveragePooling(2, 2)
   m.divide = false
   return m:forward(torch.ones(1, 2, 2))[1][1][1] == 4
end

facts['a shared network of two sizes of images'] = function()
   local m = nn.SpatialConvolution(1, 1, 3, 3)
   local a, b = torch.randn(1, 5, 5), torch.randn(2, 1, 7, 6)
   local one = m:forward(a):clone()
   local two = m:forward(b):size(3)
   return two == 5 and close(m:forward(a), one) and m.output:dim() == 3
end

facts['a fractional pooling of volumes has axes height, width, time and ratios for time, width, height'] = function()
   local m, x = nn.VolumetricFractionalMaxPooling(2, 2, 2, 0.5, 0.6, 0.7), torch.randn(2, 3, 10, 11, 12)
   local y = m:forward(x)
   -- where the windows of one axis start
   local function starts(sample, size, count)
      local apart, list = (size - 2) / (count - 1), {}
      for i = 0, count - 2 do
         list[i + 1] = math.floor((i + sample) * apart) - math.floor(sample * apart)
      end
      list[count] = size - 2
      return list
   end
   local samples = m.randomSamples[2][3]
   local T, W, H = starts(samples[1], 12, 6), starts(samples[2], 11, 6), starts(samples[3], 10, 7)
   for h = 1, 7 do
      for w = 1, 6 do
         for t = 1, 6 do
            local window = x[2][3]:narrow(1, H[h] + 1, 2):narrow(2, W[w] + 1, 2):narrow(3, T[t] + 1, 2)
            if y[2][3][h][w][t] ~= window:max() then
               return false
            end
         end
      end
   end
   return y:size(3) == 7 and y:size(4) == 6 and y:size(5) == 6
end

facts['a fractional pooling makes its samples and indices at the first use'] = function()
   local m, x = nn.SpatialFractionalMaxPooling(2, 2, 3, 3), torch.randn(1, 4, 8, 8)
   local before = m.indices == nil and m.randomSamples == nil and m.newRandomPool == false
   m:forward(x)
   local first = m.randomSamples:clone()
   m:forward(x)
   local drawn = not first:equal(m.randomSamples)
   first = m:fixPoolingRegions().randomSamples:clone()
   m:forward(x)
   local kept = first:equal(m.randomSamples) and m.newRandomPool == true
   m:clearState()
   return before and drawn and kept and m.indices == nil and m.randomSamples == nil
end

facts['the weight of a depth-wise convolution is a matrix until it is used'] = function()
   local m, x = nn.SpatialDepthWiseConvolution(2, 3, 3, 2), torch.randn(1, 2, 5, 6)
   local weight, made = m.weight, m.weight:dim() == 2 and m.weight:size(1) == 3 and m.weight:size(2) == 12
   made = made and m.gradWeight:isSameSizeAs(m.weight)
   local y = m:forward(x)
   m:zeroGradParameters()
   local gradInput = m:backward(x, y):clone()
   local two = m:updateGradInput(x, y:view(1, 2, 3, 4, 4))
   return made and m.weight == weight and m.weight:dim() == 4 and m.gradWeight:dim() == 4 and m.bias:size(2) == 2
      and close(gradInput, two)
end

return facts
