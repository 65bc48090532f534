-- Gradients that come to a node from several others, tensors or nested tables of tensors, summed.
local gradients = {}

local function copy(value)
   if torch.isTensor(value) then
      return value.new():resize(value:size()):copy(value)
   elseif type(value) ~= 'table' or torch.typename(value) then
      error('expecting a gradient that is a tensor or a table of tensors, got ' .. torch.type(value), 0)
   end
   local copied = {}
   for key, inner in pairs(value) do
      copied[key] = copy(inner)
   end
   return copied
end

-- Make `buffer` a copy of `value`, in the tensors that it has.
local function assign(buffer, value)
   if torch.isTensor(value) then
      if not torch.isTensor(buffer) or buffer:type() ~= value:type() then
         return copy(value)
      end
      return buffer:resizeAs(value):copy(value)
   elseif type(buffer) ~= 'table' or type(value) ~= 'table' then
      return copy(value)
   end
   for key, inner in pairs(value) do
      buffer[key] = assign(buffer[key], inner)
   end
   for key in pairs(buffer) do
      if value[key] == nil then
         buffer[key] = nil
      end
   end
   return buffer
end

local function add(buffer, value)
   if torch.isTensor(buffer) and torch.isTensor(value) then
      buffer:add(value)
   elseif type(buffer) == 'table' and type(value) == 'table' then
      for key, inner in pairs(value) do
         add(buffer[key], inner)
      end
   else
      error(string.format('gradients of one node are a %s and a %s', torch.type(buffer), torch.type(value)), 0)
   end
end

-- A tensor of zeros that takes no memory: what modules give whose gradient is none.
local function iszero(value)
   if not torch.isTensor(value) then
      return false
   end
   local storage = value:storage()
   return storage ~= nil and storage:size() == 1 and storage[1] == 0
end

-- The one gradient that is not zero, or the first; nothing when a sum is needed.
local function only(list)
   local found, count = 1, 0
   for i = 1, #list do
      if not iszero(list[i]) then
         found, count = i, count + 1
      end
   end
   return count < 2 and list[found] or nil
end

-- The sum of what came, nil if there was nothing; in `data.gradOutputBuffer` when there is something to sum.
function gradients.sum(data)
   local list = data.gradOutput
   if type(list) ~= 'table' then
      error('expecting gradients to sum', 0)
   elseif #list <= 1 then
      return list[1] -- nil where the modules that this node leads to have no gradient of their input
   end
   local lone = not data.gradOutputBuffer and only(list)
   if lone then
      return lone
   end
   local buffer = assign(data.gradOutputBuffer, list[1])
   data.gradOutputBuffer = buffer
   for i = 2, #list do
      add(buffer, list[i])
   end
   return buffer
end

-- What `sum` gave the last time.
function gradients.summed(data)
   local list = data.gradOutput
   if type(list) ~= 'table' then
      error('no gradient came to this node yet: call updateGradInput first', 0)
   elseif #list <= 1 then
      return list[1]
   end
   return data.gradOutputBuffer or only(list)
end

return gradients
