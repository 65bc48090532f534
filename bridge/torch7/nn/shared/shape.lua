-- Sizes of images, volumes and sequences: what a window makes of them, and what is said of those that do not fit.
local geometry = require 'torch.geometry'
local object = require 'torch.object'

local shape = {}

-- '[2 x 5 x 5]'
function shape.text(t)
   return geometry.describe(object.tensor(t))
end

-- Have two tensors, of whatever types, the same sizes?
function shape.same(a, b)
   return geometry.samesize(object.tensor(a), object.tensor(b))
end

-- The names of the fields that have a letter for each axis: fields('k', 'HW') is {'kH', 'kW'}.
function shape.fields(prefix, letters)
   local list = {}
   for i = 1, #letters do
      list[i] = prefix .. letters:sub(i, i)
   end
   return list
end

-- What a module has in these fields, cut to whole numbers.
function shape.values(module, fields, default)
   local list = {}
   for i = 1, #fields do
      local value = module[fields[i]] or default
      list[i] = value >= 0 and math.floor(value) or math.ceil(value)
   end
   return list
end

-- Is there a dimension for a batch before the n dimensions of a sample?
function shape.batched(input, n, name)
   local dimensions = input:dim()
   if dimensions ~= n and dimensions ~= n + 1 then
      error(string.format('%dD or %dD (batch mode) tensor expected for %s, but got: %s', n, n + 1, name or 'input',
         shape.text(input)), 0)
   end
   return dimensions == n + 1
end

-- Dimension d (from 1) of a tensor must have this size.
function shape.expect(name, t, d, size)
   if d > t:dim() or t:size(d) ~= size then
      error(string.format('Need %s of dimension %d and %s.size[%d] == %d but got %s to be of shape: %s', name, t:dim(),
         name, d - 1, size, name, shape.text(t)), 0)
   end
end

-- What is called `name` must be at least `least` (1 or 0) along each axis.
function shape.atleast(name, prefix, letters, values, least)
   for i = 1, #values do
      if not (values[i] >= least) then
         local parts = {}
         for k = 1, #values do
            parts[k] = string.format('%s%s: %s', prefix, letters:sub(k, k), tostring(values[k]))
         end
         error(string.format('%s should be %s, but got %s', name, least == 1 and 'greater than zero' or 'not negative',
            table.concat(parts, ' ')), 0)
      end
   end
end

-- How many places a window of k elements, `dilation` apart, has in n elements with `padding` on both sides.
function shape.places(n, k, step, padding, dilation)
   return math.floor((n + 2 * padding - dilation * (k - 1) - 1) / step) + 1
end

-- The same where the last window may hang over the end (`ceil`), as long as it begins before.
function shape.pooled(n, k, step, padding, dilation, ceil)
   if not ceil then
      return shape.places(n, k, step, padding, dilation)
   end
   local places = math.ceil((n + 2 * padding - dilation * (k - 1) - 1) / step) + 1
   return (places - 1) * step >= n + padding and places - 1 or places
end

-- The sizes of images like these, but H x W large.
function shape.adapted(input, H, W)
   H, W = math.floor(H), math.floor(W)
   local batch = shape.batched(input, 3)
   local sizes = batch and {input:size(1), input:size(2), H, W} or {input:size(1), H, W}
   shape.positive({input:size(batch and 2 or 1), input:size(input:dim() - 1), input:size(input:dim())},
      {sizes[batch and 2 or 1], H, W}, 'x')
   return sizes
end

-- Make t a contiguous tensor of these sizes.
function shape.resize(t, sizes)
   for d = 1, #sizes do
      object.scratch[d - 1] = sizes[d]
   end
   geometry.resize(object.tensor(t), #sizes)
   object.keep(t)
   return t
end

local function sizes(list, first, separator)
   local parts = {}
   for i = first, #list do
      parts[#parts + 1] = string.format('%.0f', list[i])
   end
   return table.concat(parts, separator)
end

-- All sizes of the output must be positive. Both lists have the input's and the output's dimensions; where there is a
-- batch, `first` (1) says where those of one sample begin.
function shape.positive(from, to, separator, first)
   for d = 1, #to do
      if not (to[d] >= 1 and to[d] < 2^53) then
         error(string.format('Given input size: (%s). Calculated output size: (%s). Output size is too small',
            sizes(from, first or 1, separator), sizes(to, first or 1, separator)), 0)
      end
   end
end

-- t with a batch of one around it.
function shape.single(t)
   return nn.utils.addSingletonDimension(t, 1)
end

return shape
