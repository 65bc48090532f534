-- Caffe's layers as modules: for each type a function of the layer, the package that they come from ('nn' or 'cudnn')
-- and what is known of the network so far. It returns modules in the order in which they are added.
local layers = {}

local function class(backend, name)
   return _G[backend][name]
end

-- What a parameter says of one axis: `stride_h`, or one `stride` for all, or one for each.
local function axis(parameter, name, letter, default)
   local all = parameter[name]
   if type(all) == 'table' then
      all = all[letter == 'w' and #all or 1]
   end
   local suffix = name == 'kernel_size' and 'kernel' or name
   local own = parameter[suffix .. '_' .. letter]
   return own and own > 0 and own or all or default
end

local function window(parameter)
   local list = {}
   for _, name in ipairs{'kernel_size', 'stride', 'pad'} do
      for _, letter in ipairs{'w', 'h'} do
         list[#list + 1] = axis(parameter, name, letter, name == 'stride' and 1 or name == 'pad' and 0 or nil)
            or error('the size of the kernel is missing', 0)
      end
   end
   return unpack(list)
end

-- The sizes of a blob.
function layers.size(blob)
   if blob.shape and blob.shape.dim then
      return blob.shape.dim
   end
   return {blob.num or 1, blob.channels or 1, blob.height or 1, blob.width or 1}
end

-- The blob with the weights. Its sizes are believed as far as there are numbers.
local function weight(layer)
   local blob = layer.blobs and layer.blobs[1] or error('the file has no weights of it', 0)
   local count, size = 1, layers.size(blob)
   for _, length in ipairs(size) do
      count = count * length
   end
   local there = blob.data and blob.data:nElement() or 0
   if count ~= there then
      error(string.format('its weights are %d numbers, their sizes (%s) say %.0f', there, table.concat(size, ' x '),
         count), 0)
   end
   return blob
end

local function bias(layer, parameter, module)
   if parameter.bias_term == 0 or #layer.blobs < 2 then
      module:noBias()
   end
   return module
end

-- Let a convolution work in groups: its weights are those of one group.
local function divided(module, groups, dimension)
   if groups > 1 then
      module.groups = groups
      local size = module.weight:size()
      size[dimension] = size[dimension] / groups
      module.weight:resize(size)
      module.gradWeight:resize(size):zero()
   end
   return module
end

function layers.Convolution(layer, backend, net)
   local parameter = layer.convolution_param or {}
   local size, groups = layers.size(weight(layer)), math.max(parameter.group or 1, 1)
   local dilation = parameter.dilation and parameter.dilation[1] or 1
   if dilation > 1 then
      error('dilation is not supported', 0)
   end
   net.planes = size[1]
   local module = class(backend, 'SpatialConvolution')(size[2] * groups, size[1], window(parameter))
   return bias(layer, parameter, divided(module, groups, 2))
end

function layers.Deconvolution(layer, backend, net)
   local parameter = layer.convolution_param or {}
   local size, groups = layers.size(weight(layer)), math.max(parameter.group or 1, 1)
   net.planes = size[2] * groups
   local module = class(backend, 'SpatialFullConvolution')(size[1], net.planes, window(parameter))
   return bias(layer, parameter, divided(module, groups, 2))
end

local POOLS = {[0] = 'SpatialMaxPooling', [1] = 'SpatialAveragePooling', MAX = 'SpatialMaxPooling',
   AVE = 'SpatialAveragePooling'}

function layers.Pooling(layer, backend)
   local parameter = layer.pooling_param or {}
   local name = POOLS[parameter.pool or 0] or error('stochastic pooling is not supported', 0)
   if (parameter.global_pooling or 0) ~= 0 then
      return nn[(name:gsub('Spatial', 'SpatialAdaptive'))](1, 1)
   end
   return class(backend, name)(window(parameter)):ceil()
end

function layers.ReLU(layer, backend)
   local slope = layer.relu_param and layer.relu_param.negative_slope or 0
   return slope ~= 0 and nn.LeakyReLU(slope, true) or class(backend, 'ReLU')(true)
end

function layers.TanH(_, backend)
   return class(backend, 'Tanh')(backend == 'cudnn' or nil)
end

function layers.Sigmoid(_, backend)
   return class(backend, 'Sigmoid')(backend == 'cudnn' or nil)
end

function layers.LRN(layer, backend)
   local parameter = layer.lrn_param or {}
   if parameter.norm_region == 1 or parameter.norm_region == 'WITHIN_CHANNEL' then
      error('normalisation within a channel is not supported', 0)
   end
   return class(backend, 'SpatialCrossMapLRN')(parameter.local_size or 5, parameter.alpha or 1, parameter.beta or 0.75,
      parameter.k or 1)
end

local function view()
   return nn.View(-1):setNumInputDims(3)
end

-- Behind planes a view comes first.
function layers.InnerProduct(layer, _, net)
   local size = layers.size(weight(layer))
   local inputs, outputs = size[#size], size[#size - 1]
   local linear = bias(layer, layer.inner_product_param or {}, nn.Linear(inputs, outputs))
   local first = net.planes ~= inputs and not net.flat and view() or nil
   net.planes, net.flat = outputs, true
   if first then
      return first, linear
   end
   return linear
end

function layers.Flatten(_, _, net)
   net.flat = true
   return view()
end

function layers.Dropout(layer)
   return nn.Dropout(layer.dropout_param and layer.dropout_param.dropout_ratio or 0.5)
end

function layers.Softmax(_, backend)
   return class(backend, 'SoftMax')()
end
layers.SoftmaxWithLoss = layers.Softmax

return layers
