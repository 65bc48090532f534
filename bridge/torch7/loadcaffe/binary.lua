-- A .caffemodel: messages of the schema as tables. The numbers of a blob become a torch.FloatTensor at once.
local ffi = require 'ffi'
local schema = require 'loadcaffe.schema'
local wire = require 'loadcaffe.wire'

local decode

-- Append floats that lie in the file to those of a blob.
local function floats(data, blob, from, to)
   local count = math.floor((to - from) / 4)
   local before = blob.data
   local filled = before and before:nElement() or 0
   local values = torch.FloatTensor(filled + count)
   if filled > 0 then
      values:narrow(1, 1, filled):copy(before)
   end
   if count > 0 then
      ffi.copy(values:data() + filled, data + from, 4 * count)
   end
   blob.data = values
end

local function value(data, field, kind, from, to)
   if field.kind == 'int' or field.kind == 'enum' then
      return kind == 'varint' and from or nil
   elseif field.kind == 'float' then
      return kind == 'fixed32' and wire.float(data, from) or nil
   elseif kind == 'bytes' then
      if field.kind == 'string' then
         return wire.text(data, from, to)
      end
      return decode(data, from, to, field.kind)
   end
end

function decode(data, first, last, name)
   local fields, made, loose = schema[name], {}, nil
   for number, kind, from, to in wire.fields(data, first, last) do
      local field = fields[number]
      if field and field.kind == 'floats' then
         if kind == 'bytes' then
            floats(data, made, from, to)
         elseif kind == 'fixed32' then -- one by one, as old writers did
            loose = loose or {}
            loose[#loose + 1] = wire.float(data, from)
         end
      elseif field and field.many then
         local list = made[field.name] or {}
         made[field.name] = list
         if field.kind == 'int' and kind == 'bytes' then
            for _, item in ipairs(wire.varints(data, from, to)) do
               list[#list + 1] = item
            end
         else
            list[#list + 1] = value(data, field, kind, from, to)
         end
      elseif field then
         made[field.name] = value(data, field, kind, from, to)
      end
   end
   if loose then
      made.data = torch.FloatTensor(loose)
   end
   return made
end

-- The network in a file.
return function(path)
   local handle, message = io.open(path, 'rb')
   if not handle then
      error('loadcaffe: ' .. message, 0)
   end
   local size = handle:seek('end')
   handle:close()
   if not size or size == 0 then
      error(string.format('loadcaffe: %s is empty', path), 0)
   end
   local file = torch.DiskFile(path):binary()
   local content = file:readByte(size)
   file:close()
   local ok, net = pcall(function()
      return decode(content:data(), 0, content:size(), 'Net')
   end)
   if not ok then
      error(string.format('loadcaffe: %s: %s', path, net), 0)
   end
   return net
end
