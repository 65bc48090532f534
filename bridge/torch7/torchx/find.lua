-- Where a value stands in a tensor.

local function places(tensor, value)
   local found = tensor:contiguous():view(-1):eq(value):nonzero()
   return found:nElement() > 0 and found:select(2, 1):totable() or {}
end

return function(torch)
   -- The places of `value`, counted through the whole tensor, as a table; with dim = 2 a table of them for each row of
   -- a matrix.
   function torch.find(tensor, value, dim)
      if dim == nil then
         return tensor:nElement() > 0 and places(tensor, value) or {}
      end
      if tensor:dim() ~= 2 or dim ~= 2 then
         error(string.format('torch.find: expected a matrix and dim = 2, got %d dimensions and dim = %s', tensor:dim(),
            tostring(dim)), 2)
      end
      local rows = {}
      for i = 1, tensor:size(1) do
         rows[i] = places(tensor[i], value)
      end
      return rows
   end
end
