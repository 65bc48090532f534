-- Lines of separated values: a field may be in double quotes, and then contain the separator, quotes (doubled) and line
-- breaks.
local parse = {}

-- The fields of the record that begins at `position`, and where the next one begins.
function parse.record(text, position, separator)
   local fields, byte = {}, separator:byte()
   local length = #text
   while true do
      local field
      if text:byte(position) == 34 then
         local from, parts = position + 1, {}
         while true do
            local quote = text:find('"', from, true)
            if not quote then
               error(string.format('csvigo: a quoted field that begins at character %d does not end', position), 0)
            end
            parts[#parts + 1] = text:sub(from, quote - 1)
            from = quote + 1
            if text:byte(from) ~= 34 then
               break
            end
            parts[#parts + 1] = '"'
            from = from + 1
         end
         field, position = table.concat(parts), from
         local next = text:byte(position)
         if next and next ~= byte and next ~= 10 and next ~= 13 then -- text behind a quoted field belongs to it
            local stop = text:find('[' .. (separator == '^' and '%^' or '%' .. separator) .. '\r\n]', position)
               or length + 1
            field, position = field .. text:sub(position, stop - 1), stop
         end
      else
         local stop = position
         while stop <= length do
            local next = text:byte(stop)
            if next == byte or next == 10 or next == 13 then
               break
            end
            stop = stop + 1
         end
         field, position = text:sub(position, stop - 1), stop
      end
      fields[#fields + 1] = field
      if text:byte(position) ~= byte then
         break
      end
      position = position + 1
   end
   if text:byte(position) == 13 then
      position = position + 1
   end
   if text:byte(position) == 10 then
      position = position + 1
   end
   return fields, position
end

-- All records; or with `count` the positions where they begin, for a reader that takes them one by one.
function parse.all(text, separator, positions)
   local list, position = {}, 1
   if text:sub(1, 3) == '\239\187\191' then -- a byte order mark
      position = 4
   end
   while position <= #text do
      local begin = position
      local fields
      fields, position = parse.record(text, position, separator)
      list[#list + 1] = positions and begin or fields
   end
   return list
end

-- A value as it stands in a file.
function parse.field(value, separator)
   local text = tostring(value)
   if text:find('["\r\n]') or text:find(separator, 1, true) then
      text = '"' .. text:gsub('"', '""') .. '"'
   end
   return text
end

return parse
