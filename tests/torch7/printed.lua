-- printed(object): its text as in tests/data/torch7/PRINTED.txt.
local function joined(storage)
   return storage and table.concat(storage:totable(), ',') or ''
end

local function values(list)
   local out = {}
   for i, value in ipairs(list) do
      out[i] = string.format('%.17g', value)
   end
   return table.concat(out, ' ')
end

local function flat(tensor)
   if tensor:dim() == 0 then
      return {}
   end
   local copy = torch.type(tensor) == 'torch.HalfTensor' and tensor:float() or tensor
   return copy:contiguous():view(copy:nElement()):totable()
end

return function(object)
   local seen, count = {}, 0
   local function printed(value, indent)
      local kind = type(value)
      if kind == 'number' then
         return string.format('%.17g', value)
      elseif kind == 'string' then
         return string.format('%q', value)
      elseif kind == 'function' then
         return 'function'
      elseif torch.isTensor(value) then
         return string.format('%s size={%s} stride={%s} offset=%d values={%s}\n%s', torch.type(value),
            joined(value:size()), joined(value:stride()), value:storageOffset(), values(flat(value)), tostring(value))
      elseif torch.isStorage(value) then
         return string.format('%s values={%s}\n%s', torch.type(value), values(value:totable()), tostring(value))
      elseif kind ~= 'table' then
         return tostring(value)
      elseif seen[value] then
         return '<seen #' .. seen[value] .. '>'
      end
      count = count + 1
      seen[value] = count
      local out = {torch.type(value) .. ' #' .. count .. ' {'}
      local keys = {}
      for key in pairs(value) do
         keys[#keys + 1] = key
      end
      table.sort(keys, function(a, b)
         return type(a) .. tostring(a) < type(b) .. tostring(b)
      end)
      for _, key in ipairs(keys) do
         local name = type(key) == 'string' and string.format('%q', key) or type(key) == 'table' and printed(key, '')
            or tostring(key)
         out[#out + 1] = indent .. '  [' .. name .. '] = ' .. printed(value[key], indent .. '  ')
      end
      out[#out + 1] = indent .. '}'
      return table.concat(out, '\n')
   end
   return printed(object, '')
end
