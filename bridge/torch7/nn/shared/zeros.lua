-- zeros(buffer, input): `buffer` nested like `input`, as large, and all zero.
local function zeros(buffer, input)
   if torch.type(input) ~= 'table' then
      buffer = torch.isTensor(buffer) and buffer or input.new()
      return buffer:resizeAs(input):zero()
   end
   buffer = torch.type(buffer) == 'table' and buffer or {}
   for key, value in pairs(input) do
      buffer[key] = zeros(buffer[key], value)
   end
   for key in pairs(buffer) do
      if input[key] == nil then
         buffer[key] = nil
      end
   end
   return buffer
end

return zeros
