-- A function over two tables of tensors of the same shape.

return function(torch)
   -- Call f(a, b) for each pair of tensors in `first` and `second`, which are tensors or nested tables; where one side
   -- has none it gets an empty one, of the type of its prototype if there is any.
   function torch.remap(first, second, f, prototype, other)
      if type(f) ~= 'function' then
         error('torch.remap: expected a function as argument 3, got ' .. torch.type(f), 2)
      end
      if torch.type(first) == 'table' or torch.type(second) == 'table' then
         local leads = torch.type(first) == 'table' and first or second
         first, second = first or {}, second or {}
         for i = 1, #leads do
            first[i], second[i] = torch.remap(first[i], second[i], f, prototype, other)
         end
      elseif torch.isTensor(first) or torch.isTensor(second) then
         first = first or (prototype or second).new()
         second = second or (other or prototype or first).new()
         f(first, second)
      else
         error(string.format('torch.remap: expected tensors or tables of them, got %s and %s', torch.type(first),
            torch.type(second)), 2)
      end
      return first, second
   end
end
