-- Names: every method of more than one word is there as pyps spells it and as Torch does, num_keys and numKeys.
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
