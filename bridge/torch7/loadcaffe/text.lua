-- A .prototxt: the same messages as text.
local schema = require 'loadcaffe.schema'

-- The tokens of a text: {kind, value, line}; kinds are 'name', 'number', 'string' and the marks themselves.
local function tokens(text, path)
   local list, position, line = {}, 1, 1
   while true do
      local _, stop, space = text:find('^(%s*)', position)
      line = line + select(2, space:gsub('\n', ''))
      position = stop + 1
      if position > #text then
         return list
      end
      local comment = text:match('^#[^\n]*', position)
      local name = text:match('^[%a_][%w_]*', position)
      local number = text:match('^[-+]?%.?%d[%w.]*[-+]?%d*', position)
      local mark = text:match('^[{}:;,<>%[%]]', position)
      local quote = text:match('^["\']', position)
      local length
      if comment then
         length = #comment
      elseif name then
         list[#list + 1], length = {'name', name, line}, #name
      elseif number then
         list[#list + 1], length = {'number', tonumber(number) or 0, line}, #number
      elseif mark then
         list[#list + 1], length = {mark, mark, line}, 1
      elseif quote then
         local content = text:match('^([^' .. quote .. '\n]*)' .. quote, position + 1)
         if not content then
            error(string.format('loadcaffe: %s:%d: a string does not end', path, line), 0)
         end
         list[#list + 1], length = {'string', content, line}, #content + 2
      else
         error(string.format('loadcaffe: %s:%d: %s was not expected', path, line, text:sub(position, position)), 0)
      end
      position = position + length
   end
end

local function parse(list, position, name, path, depth)
   local fields, made = schema[name] or {}, {}
   if depth > 100 then
      error(string.format('loadcaffe: %s: messages are nested more than 100 deep', path), 0)
   end
   local function fail(token, what)
      error(string.format('loadcaffe: %s:%s: %s expected, got %s', path, token and token[3] or 'end', what,
         token and tostring(token[2]) or 'the end of the file'), 0)
   end
   while list[position] and list[position][1] ~= '}' do
      local title = list[position]
      if title[1] == ';' or title[1] == ',' then
         position = position + 1
      else
         if title[1] ~= 'name' then
            fail(title, 'the name of a field')
         end
         position = position + 1
         local field = fields[title[2]]
         if list[position] and list[position][1] == ':' then
            position = position + 1
         end
         local token, item = list[position], nil
         if not token then
            fail(token, 'a value')
         elseif token[1] == '{' then
            item, position = parse(list, position + 1, field and field.kind, path, depth + 1)
            if not list[position] then
               fail(nil, '}')
            end
         elseif token[1] == 'name' then
            item = token[2]
            if item == 'true' or item == 'false' then
               item = item == 'true' and 1 or 0
            end
         elseif token[1] == 'number' or token[1] == 'string' then
            item = token[2]
         else
            fail(token, 'a value')
         end
         position = position + 1
         if field and field.many then
            made[field.name] = made[field.name] or {}
            table.insert(made[field.name], item)
         elseif field then
            made[field.name] = item
         end
      end
   end
   return made, position
end

-- The network that a file describes.
return function(path)
   local file, message = io.open(path, 'rb')
   if not file then
      error('loadcaffe: ' .. message, 0)
   end
   local list = tokens(file:read('*a'), path)
   file:close()
   local net, position = parse(list, 1, 'Net', path, 0)
   if list[position] then
      error(string.format('loadcaffe: %s:%d: } was not expected', path, list[position][3]), 0)
   end
   return net
end
