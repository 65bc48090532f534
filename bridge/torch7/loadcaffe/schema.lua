-- Caffe's messages, as far as networks are made of them: for each field of a message its number, name and type, and
-- whether it repeats. Both forms of layers: V1Layer (their types are numbers) and Layer (their types are names).
local schema = {}

local function message(name, ...)
   local fields = {}
   for _, field in ipairs{...} do
      local number, title, kind, many = unpack(field)
      fields[number] = {name = title, kind = kind, many = many}
      fields[title] = fields[number]
   end
   schema[name] = fields
end

message('Net', {1, 'name', 'string'}, {2, 'layers', 'V1Layer', true}, {100, 'layer', 'Layer', true})

local parameters = {{10, 106, 'convolution_param', 'Convolution'}, {12, 108, 'dropout_param', 'Dropout'},
   {17, 117, 'inner_product_param', 'InnerProduct'}, {18, 118, 'lrn_param', 'LRN'},
   {19, 121, 'pooling_param', 'Pooling'}, {30, 123, 'relu_param', 'ReLU'}}
local old = {{1, 'layer', 'string'}, {4, 'name', 'string'}, {5, 'type', 'enum'}, {6, 'blobs', 'Blob', true}}
local new = {{1, 'name', 'string'}, {2, 'type', 'string'}, {7, 'blobs', 'Blob', true}}
for _, parameter in ipairs(parameters) do
   local oldnumber, newnumber, name, kind = unpack(parameter)
   old[#old + 1] = {oldnumber, name, kind}
   new[#new + 1] = {newnumber, name, kind}
end
message('V1Layer', unpack(old))
message('Layer', unpack(new))

message('Convolution', {1, 'num_output', 'int'}, {2, 'bias_term', 'int'}, {3, 'pad', 'int', true},
   {4, 'kernel_size', 'int', true}, {5, 'group', 'int'}, {6, 'stride', 'int', true}, {9, 'pad_h', 'int'},
   {10, 'pad_w', 'int'}, {11, 'kernel_h', 'int'}, {12, 'kernel_w', 'int'}, {13, 'stride_h', 'int'},
   {14, 'stride_w', 'int'}, {18, 'dilation', 'int', true})
message('Pooling', {1, 'pool', 'enum'}, {2, 'kernel_size', 'int'}, {3, 'stride', 'int'}, {4, 'pad', 'int'},
   {5, 'kernel_h', 'int'}, {6, 'kernel_w', 'int'}, {7, 'stride_h', 'int'}, {8, 'stride_w', 'int'}, {9, 'pad_h', 'int'},
   {10, 'pad_w', 'int'}, {12, 'global_pooling', 'int'})
message('InnerProduct', {1, 'num_output', 'int'}, {2, 'bias_term', 'int'})
message('LRN', {1, 'local_size', 'int'}, {2, 'alpha', 'float'}, {3, 'beta', 'float'}, {4, 'norm_region', 'enum'},
   {5, 'k', 'float'})
message('Dropout', {1, 'dropout_ratio', 'float'})
message('ReLU', {1, 'negative_slope', 'float'})
message('Blob', {1, 'num', 'int'}, {2, 'channels', 'int'}, {3, 'height', 'int'}, {4, 'width', 'int'},
   {5, 'data', 'floats'}, {7, 'shape', 'Shape'})
message('Shape', {1, 'dim', 'int', true})

-- Types of V1Layer, by number and by name, as Layer calls them.
schema.types = {[4] = 'Convolution', [6] = 'Dropout', [8] = 'Flatten', [14] = 'InnerProduct', [15] = 'LRN',
   [17] = 'Pooling', [18] = 'ReLU', [19] = 'Sigmoid', [20] = 'Softmax', [21] = 'SoftmaxWithLoss', [23] = 'TanH',
   [39] = 'Deconvolution', CONVOLUTION = 'Convolution', DROPOUT = 'Dropout', FLATTEN = 'Flatten',
   INNER_PRODUCT = 'InnerProduct', LRN = 'LRN', POOLING = 'Pooling', RELU = 'ReLU', SIGMOID = 'Sigmoid',
   SOFTMAX = 'Softmax', SOFTMAX_LOSS = 'SoftmaxWithLoss', TANH = 'TanH', DECONVOLUTION = 'Deconvolution'}

return schema
