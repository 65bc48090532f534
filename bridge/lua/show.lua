-- Values as `th` prints them: numbers, strings and their like on one line, each with a tab behind it; tables field by
-- field, with tensors inside as their type and size. What has a text of its own is that text; with `fields`, as in the
-- interactive mode, the fields of an object follow.
local show = {depth = 5} -- how deep tables are shown

local function texted(object)
   local metatable = getmetatable(object)
   return type(metatable) == 'table' and metatable.__tostring ~= nil
end

-- A tensor's or storage's type and size; nil for other values.
local function sized(object)
   local torch = package.loaded.torch
   if not torch then
      return nil
   elseif torch.isTensor(object) then
      local sizes = object:size():totable()
      return torch.type(object):gsub('^torch%.', '') ..
         (#sizes == 0 and ' - empty' or ' - size: ' .. table.concat(sizes, 'x'))
   elseif torch.isStorage(object) then
      return torch.type(object):gsub('^torch%.', '') ..
         (object:size() == 0 and ' - empty' or ' - size: ' .. object:size())
   end
end

-- What stands behind the name of a field that is no table.
local function brief(value)
   if type(value) == 'string' then
      return '"' .. value .. '"'
   end
   return (sized(value) or tostring(value))
end

local tree

local function object(write, value, depth)
   if texted(value) then
      local indent = (' '):rep(depth * 4)
      write(indent .. tostring(value):gsub('\n', '\n' .. indent) .. '\n')
   end
   tree(write, value, depth)
end

function tree(write, value, depth)
   local indent = (' '):rep(depth * 4)
   if next(value) == nil then
      write(indent .. '{}\n')
      return
   end
   write(indent .. '{\n')
   for key, inner in next, value do
      local name = indent .. '  ' .. tostring(key) .. ' : '
      if type(inner) ~= 'table' then
         write(name .. brief(inner) .. '\n')
      elseif depth + 1 >= show.depth or next(inner) == nil then
         write(name .. '{...}\n')
      else
         write(name .. '\n')
         object(write, inner, depth + 1)
      end
   end
   write(indent .. '}\n')
end

-- Write all values. True `fields`: objects with a text of their own show their fields too.
function show.values(write, fields, ...)
   local n = select('#', ...)
   local pending = false -- the line is not ended yet
   for i = 1, n do
      local value = select(i, ...)
      local kind = type(value)
      if kind == 'userdata' or kind == 'cdata' then
         write(tostring(value) .. '\n')
         pending = false
      elseif kind ~= 'table' then
         write(tostring(value) .. '\t')
         pending = true
      elseif texted(value) and not (fields and (package.loaded.torch or {typename = type}).typename(value)) then
         write(tostring(value) .. '\n')
         pending = false
      elseif texted(value) then
         object(write, value, 0)
         pending = false
      else
         tree(write, value, 0)
         pending = false
      end
   end
   if pending or n == 0 then
      write('\n')
   end
end

return show
