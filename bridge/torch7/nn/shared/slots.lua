-- A table of buffers, one for each tensor of a table of inputs and as large; those left over are let go.
return function(buffers, input)
   for i = 1, #input do
      buffers[i] = buffers[i] or input[i].new()
      buffers[i]:resizeAs(input[i])
   end
   for i = #buffers, #input + 1, -1 do
      buffers[i] = nil
   end
   return buffers
end
