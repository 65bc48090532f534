-- When the tensors that modules make are first written and last read, in one pass through a network.
--
-- Time is counted in calls of modules. Tensors that share memory live as one. What is kept by anything else than a
-- module's `field` (parameters, inputs, buffers, the network's own result) is not among them.
local lifetimes = {}

-- Call f(tensor) for the tensors in nested tables.
local function each(value, f)
   if torch.isTensor(value) then
      if value:storage() and value:nElement() > 0 then
         f(value)
      end
   elseif torch.type(value) == 'table' then
      for _, inner in pairs(value) do
         each(inner, f)
      end
   end
end
lifetimes.each = each

-- Containers whose modules' results are read only by other modules in them. Others may read them until their own call
-- ends.
local CHAIN = {['nn.Sequential'] = true, ['nn.gModule'] = true}
-- Their backward passes go through the modules twice, so that gradients have to stay.
local TWICE = {['nn.gModule'] = true}

local function pointer(tensor)
   return torch.pointer(tensor:storage())
end

-- Watch `run()`, which calls modules' `method`; they leave what they make in their `field`. Returns a list of
-- {first, last, tensors}, one for each storage that nothing else holds.
function lifetimes.find(net, method, field, run)
   local clock, lives, held, wrapped, fixed = 0, {}, {}, {}, {}

   local function hold(value)
      each(value, function(tensor)
         held[pointer(tensor)] = true
      end)
   end

   local function touch(value)
      each(value, function(tensor)
         local life = lives[pointer(tensor)]
         if life then
            life.last = math.max(life.last, clock)
         end
      end)
   end

   local function make(value, begun)
      each(value, function(tensor)
         local key = pointer(tensor)
         local life = lives[key] or {first = begun, last = begun, tensors = {}}
         lives[key] = life
         life.first, life.last = math.min(life.first, begun), math.max(life.last, clock)
         life.tensors[tensor] = true
      end)
   end

   local function watch(module)
      local own = rawget(module, method)
      local f = module[method]
      wrapped[module] = {own}
      module[method] = function(self, ...)
         clock = clock + 1
         local begun = clock
         for i = 1, select('#', ...) do
            touch((select(i, ...)))
         end
         local result = f(self, ...)
         clock = clock + 1
         for i = 1, select('#', ...) do
            touch((select(i, ...)))
         end
         make(self[field], begun)
         make(result, begun)
         if self.modules and not CHAIN[torch.type(self)] then
            for _, child in ipairs(self.modules) do
               touch(child[field])
            end
         end
         return result
      end
   end

   local function fix(module)
      fixed[module] = true
      for _, child in ipairs(module.modules or {}) do
         fix(child)
      end
   end

   for _, module in ipairs(net:listModules()) do
      if not wrapped[module] then
         watch(module)
      end
      if field == 'gradInput' and TWICE[torch.type(module)] then
         fix(module)
      end
   end
   local ok, result = pcall(run)
   for module, own in pairs(wrapped) do
      module[method] = own[1]
   end
   if not ok then
      error(result, 0)
   end
   -- what stays: the result, and all that is not `field`
   hold(result)
   for module in pairs(wrapped) do
      for name, value in pairs(module) do
         if name ~= field or fixed[module] then
            if torch.isTensor(value) or torch.type(value) == 'table' and name ~= 'modules' then
               hold(value)
            end
         end
      end
   end
   local list = {}
   for key, life in pairs(lives) do
      if not held[key] then
         list[#list + 1] = life
      end
   end
   table.sort(list, function(a, b)
      return a.first < b.first or a.first == b.first and a.last < b.last
   end)
   return list
end

return lifetimes
