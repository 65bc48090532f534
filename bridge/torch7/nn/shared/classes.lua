-- The class of each of `rows` rows, counted from 1, as a LongTensor in `buffer`.
return function(buffer, target, rows, count)
   buffer = torch.isTypeOf(buffer, 'torch.LongTensor') and buffer or torch.LongTensor()
   if type(target) == 'number' then
      buffer:resize(1):fill(target)
   else
      buffer:resize(target:size()):copy(target)
   end
   if buffer:nElement() ~= rows then
      error(string.format('inconsistent target size: %d targets for %d rows', buffer:nElement(), rows), 3)
   elseif buffer:min() < 1 or buffer:max() > count then
      error(string.format('target out of range: classes from 1 to %d expected, got %d to %d', count, buffer:min(),
         buffer:max()), 3)
   end
   return buffer:view(-1)
end
