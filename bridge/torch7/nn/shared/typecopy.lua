-- typecopy(buffer, value, typename): tensors of one type, nested like `value` and equal to it, in `buffer` where it
-- fits.
local function typecopy(buffer, value, typename)
   if torch.type(value) == 'table' then
      local copied = torch.type(buffer) == 'table' and buffer or {}
      for key, inner in pairs(value) do
         copied[key] = typecopy(copied[key], inner, typename)
      end
      for key in pairs(copied) do
         if value[key] == nil then
            copied[key] = nil
         end
      end
      return copied
   elseif torch.isTensor(value) then
      buffer = torch.isTypeOf(buffer, typename) and buffer or torch.getmetatable(typename).new()
      return buffer:resize(value:size()):copy(value)
   end
   return value
end

return typecopy
