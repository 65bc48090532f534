-- Networks from nn's layers to cudnn's and back; layers keep their tensors.
local LAYERS = {}
for _, name in ipairs{'BatchNormalization', 'SpatialBatchNormalization', 'SpatialConvolution', 'SpatialCrossMapLRN',
   'SpatialFullConvolution', 'SpatialMaxPooling', 'SpatialAveragePooling', 'ReLU', 'Tanh', 'Sigmoid', 'SoftMax',
   'LogSoftMax', 'VolumetricBatchNormalization', 'VolumetricConvolution', 'VolumetricFullConvolution',
   'VolumetricMaxPooling', 'VolumetricAveragePooling'} do
   LAYERS[name] = true
end

-- Layers of nn that are others in cudnn.
local SAME = {['nn.SpatialConvolutionMM'] = 'SpatialConvolution',
   ['inn.SpatialCrossResponseNormalization'] = 'SpatialCrossMapLRN'}

-- The layer as one of the other package.
local function converted(layer, name, tonn)
   local made = torch.setmetatable({}, (tonn and 'nn.' or 'cudnn.') .. name)
   for key, value in pairs(layer) do
      made[key] = value
   end
   if name == 'ReLU' then
      made.threshold, made.val = 0, 0
   elseif tonn and name:find('AveragePooling$') and made.count_include_pad == nil then
      made.count_include_pad = layer.mode ~= 'CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING'
   elseif tonn and name == 'SpatialCrossMapLRN' and layer.K then
      made.k, made.K = layer.K, nil
   elseif not tonn and name == 'SpatialConvolution' then
      made.groups = made.groups or 1
   end
   if tonn then
      for _, field in ipairs{'iSize', 'mode', 'algorithm', 'fastest_mode', 'fmode', 'bdmode', 'bwmode'} do
         made[field] = nil
      end
      made.groups = layer.groups ~= 1 and layer.groups or nil -- nn's convolutions here know them too
   end
   return made
end

-- The nodes of a graph hold modules too.
local function graph(module, change)
   for _, node in ipairs(module.forwardnodes) do
      if node.data.module then
         node.data.module = node.data.module:replace(change)
      end
   end
end

-- Change the layers of a network to those of `dst` (nn or cudnn), but those that exclusion(layer) is true for.
return function(net, dst, exclusion)
   if dst ~= nn and dst ~= cudnn then
      error('cudnn.convert: expected nn or cudnn to convert to, got ' .. torch.type(dst), 2)
   end
   local tonn = dst == nn
   local from = tonn and '^cudnn%.(.*)$' or '^nn%.(.*)$'
   local done = {} -- a layer that is in two places stays one

   local function change(layer)
      if done[layer] then
         return done[layer]
      end
      local typename = torch.typename(layer)
      local name = not tonn and SAME[typename] or typename:match(from)
      local result = layer
      if exclusion and exclusion(layer) then
         name = nil
      end
      if LAYERS[name] then
         result = converted(layer, name, tonn)
      elseif typename == 'nn.gModule' then
         graph(layer, change)
      end
      done[layer] = result
      return result
   end

   return net:replace(change)
end
