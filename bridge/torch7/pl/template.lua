-- Text templates: lines that begin with '#' are Lua, $(expression) is replaced everywhere else.
local template = {}

local function quote(text)
   return ('%q'):format(text):gsub('\\\n', '\\n'):gsub('\r', '\\r')
end

-- One line of text as Lua that writes it.
local function line(text, escape)
   local pieces = {}
   local from = 1
   while true do
      local first, last, expression = text:find(escape .. '(%b())', from)
      if not first then
         pieces[#pieces + 1] = ' _out(' .. quote(text:sub(from)) .. ')'
         return table.concat(pieces)
      end
      if first > from then
         pieces[#pieces + 1] = ' _out(' .. quote(text:sub(from, first - 1)) .. ')'
      end
      pieces[#pieces + 1] = ' _out(_text' .. expression .. ')'
      from = last + 1
   end
end

local function source(text, options)
   local mark = '^%s*' .. (options.escape or '#') .. '(.*)$'
   local inline = options.inline_escape or '%$'
   local code = {'return function(_out, _text)'}
   for whole in text:gsub('[^\n]$', '%0\0'):gmatch('[^\n%z]*[\n%z]') do -- a zero marks a last line without an end
      whole = whole:gsub('%z', '')
      local statement = whole:gsub('\n$', ''):match(mark)
      code[#code + 1] = statement or line(whole, inline)
   end
   code[#code + 1] = 'end'
   return table.concat(code, '\n')
end

local Compiled = {}
Compiled.__index = Compiled

-- The text with names looked up in `values`, then `parent`; nil and what is wrong.
function Compiled:render(values, parent)
   local environment = setmetatable({}, {__index = function(_, key)
      local value = (values or {})[key]
      if value == nil and parent then
         value = parent[key]
      end
      return value
   end})
   local chunk, message = load(self.code, self.name, 't', environment)
   if not chunk then
      return nil, message, self.code
   end
   local pieces = {}
   local ok, problem = pcall(chunk(), function(text) pieces[#pieces + 1] = text end, function(value)
      return value == nil and '' or tostring(value)
   end)
   if not ok then
      return nil, problem, self.code
   end
   return table.concat(pieces)
end

-- Compile a template to be rendered many times. Options: escape ('#'), inline_escape ('%$'), chunk_name.
function template.compile(text, options)
   options = options or {}
   local code = source(text, options)
   local chunk, message = loadstring(code, options.chunk_name or 'TMP')
   if not chunk then
      return nil, message, code
   end
   return setmetatable({code = code, name = options.chunk_name or 'TMP'}, Compiled)
end

-- Render a template once. `values` may also have _escape, _inline_escape, _parent.
function template.substitute(text, values)
   values = values or {}
   local compiled, message, code = template.compile(text, {
      escape = rawget(values, '_escape'), inline_escape = rawget(values, '_inline_escape'),
   })
   if not compiled then
      return nil, message, code
   end
   return compiled:render(values, rawget(values, '_parent'))
end

return template
