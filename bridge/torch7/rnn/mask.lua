-- Steps that are padding: rows of the input that are all zeros.
local mask = {}

function mask.first(input)
   while torch.type(input) == 'table' do
      input = input[1]
   end
   if not torch.isTensor(input) then
      error('expected a tensor, or a table that begins with one, got ' .. torch.type(input), 3)
   end
   return input
end

-- A ByteTensor with a 1 for each row of the input (nInputDim dimensions make one) that is padding; and whether there
-- is a batch of them.
function mask.rows(self, input, nInputDim)
   local tensor = mask.first(input)
   local batch = tensor:dim() == nInputDim + 1
   if not batch and tensor:dim() ~= nInputDim then
      error(string.format('%s: input of %d dimensions, or %d for a batch, expected, got %d', torch.type(self),
         nInputDim, nInputDim + 1, tensor:dim()), 3)
   end
   local rows = tensor:contiguous():view(batch and tensor:size(1) or 1, -1)
   return rows:ne(0):sum(2):eq(0):view(-1):byte(), batch
end

-- Copies of tensors (nested like `source`) with zeros where a row is padding.
function mask.apply(into, source, zero, batch)
   if torch.type(source) == 'table' then
      into = torch.type(into) == 'table' and into or {}
      for key, inner in pairs(source) do
         into[key] = mask.apply(into[key], inner, zero, batch)
      end
      return into
   end
   into = torch.isTensor(into) and into or source.new()
   into:resizeAs(source):copy(source)
   if batch then
      local size = source:size():fill(1)
      size[1] = source:size(1)
      into:maskedFill(zero:view(size):expandAs(source), 0)
   elseif zero[1] == 1 then
      into:zero()
   end
   return into
end

return mask
