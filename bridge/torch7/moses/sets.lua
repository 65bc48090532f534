-- Lists as sets: values that are equal (moses.isEqual) count as one.
local moses = require 'moses'

function moses.unique(array)
   local found = {}
   for _, value in ipairs(array) do
      if not moses.find(found, value) then
         found[#found + 1] = value
      end
   end
   return found
end

function moses.isunique(array)
   return #moses.unique(array) == #array
end

function moses.difference(array, other)
   return moses.reject(array, function(_, value) return other ~= nil and moses.include(other, value) end)
end

function moses.union(...)
   return moses.unique(moses.flatten{...})
end

function moses.intersection(array, ...)
   local others, shared = {...}, {}
   for _, value in ipairs(array) do
      if moses.all(others, function(_, other) return moses.include(other, value) end) then
         shared[#shared + 1] = value
      end
   end
   return shared
end

function moses.symmetricDifference(array, other)
   return moses.difference(moses.union(array, other), moses.intersection(array, other))
end
