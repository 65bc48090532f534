-- image.minmax: what lies between two numbers, between 0 and 1.
local calls = require 'image.calls'

return function(image)
   -- {tensor=, min=, max=, symm=, inplace=, saturate=, tensorOut=}; without limits those of the tensor.
   function image.minmax(o)
      local tensor = calls.tensor(type(o) == 'table' and o.tensor or nil, 'minmax')
      local output = o.tensorOut
      if output then
         output:resize(tensor:size()):copy(tensor)
      else
         output = o.inplace and tensor or torch.Tensor(tensor:size()):copy(tensor)
      end
      local min, max = o.min, o.max
      local saturate = o.saturate and not (min == nil and max == nil)
      local reach = o.symm and (min == nil or max == nil) and math.max(math.abs(output:min()), math.abs(output:max()))
      if min == nil then
         min = o.symm and -reach or output:min()
      end
      if min ~= 0 then
         output:add(-min)
      end
      if max ~= nil then
         max = max - min
      else
         max = o.symm and reach * 2 or output:max()
      end
      if max ~= 0 then
         output:div(max)
      end
      return saturate and output:clamp(0, 1) or output
   end
end
