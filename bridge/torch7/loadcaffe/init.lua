-- The loadcaffe package: networks that Caffe trained, as nn's modules.
--
-- The layers are those in the .caffemodel, which has them beside their weights. The .prototxt is read only where it has
-- none, as in files that were stripped to weights.
require 'nn'
local binary = require 'loadcaffe.binary'
local layers = require 'loadcaffe.layers'
local schema = require 'loadcaffe.schema'
local text = require 'loadcaffe.text'

loadcaffe = loadcaffe or {}
package.loaded.loadcaffe = loadcaffe

-- The layers of a network, in either form.
local function list(net)
   return net.layers and #net.layers > 0 and net.layers or net.layer or {}
end

local function described(found)
   for _, layer in ipairs(found) do
      if layer.type then
         return true
      end
   end
   return false
end

-- The layers of the description, with the blobs of the weights' layers of the same name.
local function matched(description, weights)
   local blobs = {}
   for _, layer in ipairs(weights) do
      if layer.name then
         blobs[layer.name] = layer.blobs
      end
   end
   for _, layer in ipairs(description) do
      layer.blobs = blobs[layer.name]
   end
   return description
end

-- Copy a blob into a parameter that it has to fit.
local function fill(parameter, blob, name)
   local values = blob.data or torch.FloatTensor()
   if values:nElement() ~= parameter:nElement() then
      error(string.format('loadcaffe: layer %s has %d numbers where %d are needed', name, values:nElement(),
         parameter:nElement()), 0)
   end
   parameter:copy(values)
end

local function sizes(blob)
   local size = layers.size(blob)
   local line = {1, 1, 1, 1}
   for i, length in ipairs(size) do
      line[4 - #size + i] = length
   end
   return string.format('%d %d %d %d', line[1], line[2], line[4], line[3])
end

-- Add what a layer becomes to the network.
local function add(net, layer, backend, state)
   local kind, name = schema.types[layer.type] or layer.type, layer.name or ''
   local make = type(kind) == 'string' and kind ~= 'size' and layers[kind]
   if not make then
      print(string.format("warning: module '%s [type %s]' not found", name, tostring(layer.type)))
      return
   end
   local ok, first, second = pcall(make, layer, backend, state)
   if not ok then
      error(string.format('loadcaffe: layer %s (%s): %s', name, kind, tostring(first)), 0)
   end
   local module = second or first
   if second then
      first.name = 'torch_view'
      net:add(first)
   end
   module.name = name
   if module.weight then
      print(name .. ': ' .. sizes(layer.blobs[1]))
      fill(module.weight, layer.blobs[1], name)
      if module.bias then
         fill(module.bias, layer.blobs[2], name)
      end
   end
   net:add(module)
end

-- A network from a description and a file of weights; backend is 'nn' or 'cudnn' (whose networks are CUDA's).
function loadcaffe.load(prototxt, caffemodel, backend)
   backend = backend or 'nn'
   if backend ~= 'nn' and backend ~= 'cudnn' then
      error(string.format("loadcaffe.load: backend is 'nn' or 'cudnn', got '%s'", tostring(backend)), 2)
   elseif type(prototxt) ~= 'string' or type(caffemodel) ~= 'string' then
      error('loadcaffe.load: expected the names of a .prototxt and a .caffemodel file', 2)
   end
   require(backend)
   local found = list(binary(caffemodel))
   print('Successfully loaded ' .. caffemodel)
   if #found > 0 and not described(found) then
      found = matched(list(text(prototxt)), found)
   end
   local net, state = nn.Sequential(), {}
   for _, layer in ipairs(found) do
      add(net, layer, backend, state)
   end
   if #net.modules == 0 then
      error(string.format('loadcaffe: %s holds no layers that can be loaded (files of the time before layers had types '
         .. "must go through Caffe's upgrade_net_proto_binary)", caffemodel), 0)
   end
   return backend == 'cudnn' and net:cuda() or net
end

return loadcaffe
