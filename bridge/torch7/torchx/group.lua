-- Equal values of a vector, together.

local function equal(first, value)
   return first == value
end

return function(torch)
   -- ([sorted, index,] tensor [, same(first, value)] [, descending]): groups by their first value, each with `idx` and
   -- `val`; the sorted values; where they stood.
   function torch.group(sorted, index, tensor, same, descending)
      if not torch.isTensor(tensor) then
         sorted, index, tensor, same, descending = nil, nil, sorted, index, tensor
      end
      if not torch.isTensor(tensor) or tensor:dim() ~= 1 then
         error('torch.group: expected a vector, got ' .. (torch.isTensor(tensor) and 'a tensor of '
            .. tensor:dim() .. ' dimensions' or torch.type(tensor)), 2)
      end
      sorted, index, same = sorted or tensor.new(), index or torch.LongTensor(), same or equal
      torch.sort(sorted, index, tensor, 1, descending or false)
      local groups, start, size = {}, 1, tensor:size(1)
      for i = 2, size + 1 do
         if i > size or not same(sorted[start], sorted[i]) then
            groups[sorted[start]] = {idx = index:narrow(1, start, i - start), val = sorted:narrow(1, start, i - start)}
            start = i
         end
      end
      return groups, sorted, index
   end
end
