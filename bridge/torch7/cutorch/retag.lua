-- CPU tensors and CUDA tensors of the CPU backend differ in nothing but their metatable: what the runtime makes while
-- it works for a CUDA tensor is a CPU tensor until it is retagged here, in place, before anybody else has seen it.
local retag = {twins = {}} -- metatable of a CPU tensor -> of the CUDA one

local twins, setmetatable, getmetatable, rawequal = retag.twins, debug.setmetatable, getmetatable, rawequal

-- Is `value` one of the other arguments?
local function given(value, ...)
   for i = 1, select('#', ...) do
      if rawequal(value, (select(i, ...))) then
         return true
      end
   end
   return false
end

-- Make a result a CUDA tensor unless it was an argument; lists of results too.
local function result(value, ...)
   if type(value) == 'userdata' then
      local twin = twins[getmetatable(value)]
      if twin and not given(value, ...) then
         setmetatable(value, twin)
      end
   elseif type(value) == 'table' and getmetatable(value) == nil and not given(value, ...) then
      for _, inner in ipairs(value) do
         result(inner, ...)
      end
   end
   return value
end
retag.result = result

local function pack(...)
   return {n = select('#', ...), ...}
end

-- `f`, whose new tensors are CUDA tensors.
function retag.wrap(f)
   return function(...)
      local results = pack(f(...))
      for i = 1, results.n do
         result(results[i], ...)
      end
      return unpack(results, 1, results.n)
   end
end

-- `f`, whose new tensors are CUDA tensors if `wanted(...)`, asked about its arguments: then it is `cuda`, if given.
function retag.when(wanted, f, cuda)
   local wrapped = retag.wrap(cuda or f)
   return function(...)
      if wanted(...) then
         return wrapped(...)
      end
      return f(...)
   end
end

return retag
