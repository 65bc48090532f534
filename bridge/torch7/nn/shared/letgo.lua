-- letgo(self, name, ...): forget fields that may be another module's tensors. They are replaced, not emptied.
return function(self, ...)
   for _, name in ipairs{...} do
      local value = self[name]
      if torch.isTensor(value) then
         self[name] = value.new()
      elseif type(value) == 'table' then
         self[name] = {}
      else
         self[name] = nil
      end
   end
   return self
end
