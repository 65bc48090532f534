-- One vector for many tensors, which become views of it: each stretch of memory that they cover appears once, so what
-- was shared stays shared; memory between them that none of them uses is left out.

-- The first and last element of its storage that a tensor touches, from 0.
local function extent(tensor)
   local first = tensor:storageOffset() - 1
   local last = first
   for d = 1, tensor:dim() do
      last = last + (tensor:size(d) - 1) * tensor:stride(d)
   end
   return first, last
end

-- The storages of the tensors in order of appearance, each with the stretches that its tensors touch.
local function stretches(tensors)
   local storages, known = {}, {}
   for _, tensor in ipairs(tensors) do
      local storage = tensor:storage()
      if storage and tensor:nElement() > 0 then
         local key = torch.pointer(storage)
         if not known[key] then
            known[key] = {storage = storage}
            storages[#storages + 1] = known[key]
         end
         local first, last = extent(tensor)
         table.insert(known[key], {first = first, last = last})
      end
   end
   return storages, known
end

-- Overlapping and touching stretches become one; each gets its place in the vector. The length of the vector so far.
local function place(storage, start)
   table.sort(storage, function(a, b) return a.first < b.first end)
   local merged = {}
   for _, stretch in ipairs(storage) do
      local previous = merged[#merged]
      if previous and stretch.first <= previous.last + 1 then
         previous.last = math.max(previous.last, stretch.last)
      else
         merged[#merged + 1] = stretch
      end
   end
   for _, stretch in ipairs(merged) do
      stretch.start = start
      start = start + stretch.last - stretch.first + 1
   end
   storage.merged = merged
   return start
end

local function find(merged, first)
   for _, stretch in ipairs(merged) do
      if first <= stretch.last then
         return stretch.start + first - stretch.first
      end
   end
end

return function(tensors)
   if not tensors or #tensors == 0 then
      return torch.Tensor()
   end
   local storages, known = stretches(tensors)
   local total = 0
   for _, storage in ipairs(storages) do
      total = place(storage, total)
   end
   local flat = tensors[1].new(total)
   for _, storage in ipairs(storages) do
      for _, stretch in ipairs(storage.merged) do
         local n = stretch.last - stretch.first + 1
         flat:narrow(1, stretch.start + 1, n):copy(flat.new():set(storage.storage, stretch.first + 1, n, 1))
      end
   end
   local memory = flat:storage()
   for _, tensor in ipairs(tensors) do
      local storage = tensor:storage()
      local from = storage and tensor:nElement() > 0 and known[torch.pointer(storage)]
      if from then -- else it is empty, or came before: one module may be listed twice
         local start = find(from.merged, (extent(tensor)))
         tensor:set(memory, start + 1, tensor:size(), tensor:stride())
      end
   end
   return flat
end
