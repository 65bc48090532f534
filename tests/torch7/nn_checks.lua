-- What facts of several files need: whether numbers agree, and what a program prints.
local checks = {}

function checks.near(a, b, tolerance)
   return torch.add(a, -1, b):abs():max() < (tolerance or 1e-12)
end

-- Run f with print and io.write taken away; what was printed.
function checks.printed(f)
   local lines, original = {}, print
   print = function(...) -- luacheck: ignore 121
      local parts = {}
      for i = 1, select('#', ...) do
         parts[i] = tostring((select(i, ...)))
      end
      lines[#lines + 1] = table.concat(parts, '\t')
   end
   local ok, message = pcall(f)
   print = original -- luacheck: ignore 121
   assert(ok, message)
   return lines
end

return checks
