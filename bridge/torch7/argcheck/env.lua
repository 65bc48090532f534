-- How types are asked for and named. A program may replace these functions; checkers that exist keep the old ones.
local env = {}

local hastorch, torch = pcall(require, 'torch')

-- A type's name may be a pattern: 'torch.*Tensor' is every tensor. What is no pattern has to be the whole name.
local function named(name, typename)
   local found = name:match(typename)
   return found ~= nil and (found ~= typename or found == name)
end

-- Is `object` of this type? For objects of torch's classes, the classes they inherit from count too.
function env.istype(object, typename)
   local name = hastorch and torch.typename(object)
   if not name then
      return type(object) == typename
   elseif named(name, typename) then
      return true
   end
   local metatable = torch.getmetatable(name)
   while metatable do
      local parent = rawget(metatable, '__typename')
      if parent and named(parent, typename) then
         return true
      end
      metatable = getmetatable(metatable)
   end
   return false
end

function env.type(object)
   return hastorch and torch.typename(object) or type(object)
end

return env
