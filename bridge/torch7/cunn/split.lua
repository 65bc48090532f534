-- Batches in parts and together again: tensors, or tables of them, along a dimension.
local split = {}

-- Where part i of n of a dimension begins, and how long it is: 0 only for the last ones, where there are fewer elements
-- than parts.
local function range(size, i, n)
   n = math.min(n, size)
   if i > n then
      return size + 1, 0
   end
   local first = math.ceil((i - 1) * size / n)
   local last = i == n and size or math.ceil(i * size / n)
   return first + 1, last - first
end

-- Part i of n of `source`, as tensors of type `typename`; those in `into` are used again.
function split.part(into, source, dimension, i, n, typename)
   if torch.type(source) == 'table' then
      if torch.type(into) ~= 'table' or #into ~= #source then
         into = {}
      end
      for key, inner in ipairs(source) do
         into[key] = split.part(into[key], inner, dimension, i, n, typename)
      end
      return into
   elseif not torch.isTensor(source) then
      error('nn.DataParallelTable: input must be a tensor or table of tensors, got ' .. torch.type(source), 0)
   elseif source:dim() > 0 and source:dim() < dimension then
      error(string.format('nn.DataParallelTable: input of %d dimensions cannot be split along dimension %d',
         source:dim(), dimension), 0)
   end
   into = torch.type(into) == typename and into or torch.getconstructortable(typename)()
   local first, length = range(source:dim() > 0 and source:size(dimension) or 0, i, n)
   if length == 0 then
      return into:resize(0)
   end
   local part = source:narrow(dimension, first, length)
   return into:resize(part:size()):copy(part)
end

-- Is there a number in a tensor, or in a table of tensors?
function split.filled(value)
   if torch.isTensor(value) then
      return value:nElement() > 0
   end
   for _, inner in ipairs(value) do
      if split.filled(inner) then
         return true
      end
   end
   return false
end

-- The parts one behind the other; the tensors in `into` are used again.
function split.join(into, parts, dimension, typename)
   local first = parts[1]
   if torch.type(first) == 'table' then
      if torch.type(into) ~= 'table' or #into ~= #first then
         into = {}
      end
      for key in ipairs(first) do
         local inner = {}
         for i, part in ipairs(parts) do
            inner[i] = part[key]
         end
         into[key] = split.join(into[key], inner, dimension, typename)
      end
      return into
   elseif not torch.isTensor(first) then
      error('nn.DataParallelTable: outputs must be tensors or tables of tensors, got ' .. torch.type(first), 0)
   end
   into = torch.type(into) == typename and into or torch.getconstructortable(typename)()
   local size
   for _, part in ipairs(parts) do
      if part:nElement() > 0 then
         if size then
            size[dimension] = size[dimension] + part:size(dimension)
         else
            size = part:size()
         end
      end
   end
   if not size then
      return into
   end
   into:resize(size)
   local place = 1
   for _, part in ipairs(parts) do
      if part:nElement() > 0 then
         into:narrow(dimension, place, part:size(dimension)):copy(part)
         place = place + part:size(dimension)
      end
   end
   return into
end

return split
