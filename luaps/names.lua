-- Names: gives every method of several words two names, the one of pyps and the one in Torch's style: num_keys and
-- numKeys.
local names = {}

function names.add(class)
   local spelled = {}
   for name, method in pairs(class) do
      if not name:match('^_') then
         spelled[name:gsub('_(%l)', string.upper)] = method
      end
   end
   for name, method in pairs(spelled) do
      class[name] = method
   end
end

return names
