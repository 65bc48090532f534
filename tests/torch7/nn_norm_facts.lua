-- Facts about batch normalisation where the batch is one sample, or where there is no batch.
local checks = ...
local near = checks.near
local facts = {}

-- A layer with averages of its own, and an input with a batch of one.
local function single(size)
   local name = ({[2] = 'BatchNormalization', [4] = 'SpatialBatchNormalization', [5] = 'VolumetricBatchNormalization'})
   local m = nn[name[#size]](3)
   m.running_mean:copy(torch.Tensor{1, 2, 3})
   m.running_var:copy(torch.Tensor{4, 5, 6})
   return m, torch.randn(unpack(size))
end

local SIZES = {{1, 3}, {1, 3, 2, 2}, {1, 3, 2, 1, 2}}

-- Does f(layer, input, factor for each feature as large as the input, shift of that size, too) hold for all of them?
local function each(f)
   for _, size in ipairs(SIZES) do
      local m, x = single(size)
      local view = {1, 3}
      for d = 3, #size do
         view[d] = 1
      end
      local scale = torch.add(m.running_var, m.eps):sqrt():cinv()
      local function spread(v)
         return v:view(unpack(view)):expandAs(x)
      end
      if not f(m, x, spread(scale), spread(m.running_mean), spread) then
         return false
      end
   end
   return true
end

facts['training with one frame normalises with the averages'] = function()
   return each(function(m, x, scale, mean, spread)
      return near(m:forward(x), torch.add(x, -1, mean):cmul(scale):cmul(spread(m.weight)))
   end)
end

facts['training with one frame leaves the averages alone'] = function()
   return each(function(m, x)
      local save = m:forward(torch.cat(x, x, 1)) and m.save_mean:clone()
      m.running_mean:copy(torch.Tensor{1, 2, 3})
      m.running_var:copy(torch.Tensor{4, 5, 6})
      m:forward(x)
      return m.running_mean[3] == 3 and m.running_var[1] == 4 and near(m.save_mean, save)
   end)
end

facts['the gradients of one frame are those of a constant scale'] = function()
   return each(function(m, x, scale, mean, spread)
      local g = torch.randn(x:size())
      m:forward(x)
      local gradInput = m:backward(x, g, 2)
      local products = torch.add(x, -1, mean):cmul(scale):cmul(g)
      local function sums(t)
         return t:view(3, -1):sum(2):mul(2):view(3)
      end
      return near(gradInput, torch.cmul(g, scale):cmul(spread(m.weight))) and near(m.gradWeight, sums(products))
         and near(m.gradBias, sums(g:clone()))
   end)
end

facts['two frames have statistics of their own'] = function()
   local m = single{1, 3}
   m:forward(torch.Tensor{{1, 2, 3}, {3, 4, 5}})
   return near(m.save_mean, torch.Tensor{2, 3, 4}) and near(m.running_mean, torch.Tensor{1.1, 2.1, 3.1})
end

facts['in evaluation a sample without a batch gets one, itself too'] = function()
   for _, size in ipairs(SIZES) do
      local m, batch = single(size)
      m:evaluate()
      local x = batch[1]
      local y = m:forward(x)
      local gradInput = m:backward(x, y[1]:clone())
      if not (y:isSameSizeAs(batch) and x:isSameSizeAs(batch) and gradInput:isSameSizeAs(batch)) then
         return false
      end
   end
   return true
end

return facts
