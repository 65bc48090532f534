-- Tensors of a table, one behind the other.

return function(torch)
   -- ([result,] tensors [, dim]); dim is the first one unless given.
   local function concat(result, tensors, dim)
      if type(result) == 'table' then
         result, tensors, dim = nil, result, tensors
      end
      if type(tensors) ~= 'table' or not torch.isTensor(tensors[1]) then
         error('torch.concat: expected a table of tensors, got '
            .. (type(tensors) == 'table' and 'one with ' .. torch.type(tensors[1]) or torch.type(tensors)), 2)
      end
      return torch.cat(result or tensors[1].new(), tensors, dim or 1)
   end

   torch.concat = concat
   for _, name in ipairs{'Byte', 'Char', 'Short', 'Int', 'Long', 'Float', 'Double'} do
      torch.getmetatable('torch.' .. name .. 'Tensor').concat = concat
   end
end
