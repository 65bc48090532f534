-- A graph in graphviz's language. Nodes may bring `graphNodeName` and `graphNodeAttributes`.
local Graph = torch.getmetatable('graph.Graph')

-- A word as it is, all else quoted. Backslashes stay: `\l` and `\n` are graphviz's line ends.
function graph._dotEscape(text)
   if text:find('[^a-zA-Z]') then
      return '"' .. text:gsub('\n', '\\n'):gsub('"', '\\"') .. '"'
   end
   return text
end

local function attributetext(attributes)
   local names = {}
   for name in pairs(attributes) do
      names[#names + 1] = name
   end
   table.sort(names)
   for i, name in ipairs(names) do
      names[i] = tostring(name) .. '=' .. graph._dotEscape(tostring(attributes[name]))
   end
   return ' ' .. table.concat(names, ' ')
end

function Graph:todot(title)
   local lines = {'digraph G {'}
   if title then
      lines[#lines + 1] = 'labelloc="t";'
      lines[#lines + 1] = 'label=' .. '"' .. tostring(title):gsub('"', '\\"') .. '";'
   end
   lines[#lines + 1] = 'node [shape = oval]; '
   local names = {}
   for i, node in ipairs(self.nodes) do
      names[node] = 'n' .. i
      local name = node.graphNodeName and node:graphNodeName() or 'Node' .. i
      local attributes = node.graphNodeAttributes and attributetext(node:graphNodeAttributes()) or ''
      lines[#lines + 1] = string.format('%s[label=%s%s];', names[node],
         graph._dotEscape(name .. '\n' .. node:label()), attributes)
   end
   for _, edge in ipairs(self.edges) do
      lines[#lines + 1] = names[edge.from] .. ' -> ' .. names[edge.to] .. ';'
   end
   lines[#lines + 1] = '}'
   return table.concat(lines, '\n')
end
