-- Deep copies of modules: what was shared inside the original (tensors, storages, tables) is shared inside the copy.
-- Functions, threads and other userdata are the same ones in both.
local copyvalue

local function copystorage(storage, seen)
   local key = torch.pointer(storage)
   local copied = seen[key]
   if not copied then
      copied = torch.getconstructortable(torch.typename(storage))(storage:size()):copy(storage)
      seen[key] = copied
   end
   return copied
end

local function copytensor(tensor, seen)
   local storage = tensor:storage()
   if not storage then
      return tensor.new()
   end
   return tensor.new():set(copystorage(storage, seen), tensor:storageOffset(), tensor:size(), tensor:stride())
end

local function copytable(object, seen)
   local copied = {}
   seen[object] = copied
   for key, value in next, object do
      copied[copyvalue(key, seen)] = copyvalue(value, seen)
   end
   return setmetatable(copied, debug.getmetatable(object))
end

function copyvalue(value, seen)
   local kind = type(value)
   if kind == 'table' then
      return seen[value] or copytable(value, seen)
   elseif kind ~= 'userdata' then
      return value
   end
   if seen[value] == nil then
      seen[value] = torch.isTensor(value) and copytensor(value, seen)
         or torch.isStorage(value) and copystorage(value, seen) or value
   end
   return seen[value]
end

-- `seen` may name what is not copied: a storage by its pointer, a table by itself, each with what stands for it.
return function(object, seen)
   return copyvalue(object, seen or {})
end
