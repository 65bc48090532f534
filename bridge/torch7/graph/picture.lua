-- Pictures and layouts of graphs, made by graphviz's programs (`dot` and its siblings).
local paths = require 'paths'

local HOW = 'install graphviz (Debian: apt-get install graphviz)'

local function quote(text)
   return "'" .. tostring(text):gsub("'", "'\\''") .. "'"
end

local function write(name, text)
   local file, reason = io.open(name, 'w')
   if not file then
      error('cannot write the graph: ' .. reason, 3)
   end
   file:write(text)
   file:close()
end

-- Is this one of graphviz's layouts, and is the program there?
local function program(algorithm)
   algorithm = algorithm or 'dot'
   if type(algorithm) ~= 'string' or not algorithm:match('^%l+$') then
      error(string.format('the layout must be the name of one of graphviz\'s programs (dot, neato, ...), got %s',
         tostring(algorithm)), 3)
   elseif not paths.findprogram(algorithm) then
      return nil, string.format('the program %s was not found: %s', algorithm, HOW)
   end
   return algorithm
end

local function render(engine, kind, from, to)
   local done, _, status = os.execute(string.format('%s -T%s -o %s %s', engine, kind, quote(to), quote(from)))
   if not done then
      error(string.format('%s could not draw %s (status %s)', engine, from, tostring(status)), 3)
   end
end

-- Draw a graph into a file; the end of its name says in which format.
function graph.graphvizFile(g, algorithm, fname)
   local kind = type(fname) == 'string' and fname:match('%.(%w+)$')
   if not kind then
      error(string.format('a file name that ends with its format (such as .svg) expected, got %s', tostring(fname)), 2)
   end
   local engine, reason = program(algorithm)
   if not engine then
      error(reason, 2)
   end
   local text = os.tmpname()
   write(text, g:todot())
   local ok, message = pcall(render, engine, kind, text, fname)
   os.remove(text)
   if not ok then
      error(message, 2)
   end
end

-- Where the nodes lie: a tensor with one row (x, y) per node, from 0 to 1 in both directions.
function graph.graphvizLayout(g, algorithm)
   local engine, reason = program(algorithm)
   if not engine then
      error(reason, 2)
   end
   local text, plain = os.tmpname(), os.tmpname()
   write(text, g:todot())
   local ok, message = pcall(render, engine, 'plain', text, plain)
   local positions = torch.zeros(#g.nodes, 2)
   if ok then
      local width, height = 1, 1
      for line in io.lines(plain) do
         local w, h = line:match('^graph %S+ (%S+) (%S+)')
         if w then
            width, height = math.max(tonumber(w), 1e-9), math.max(tonumber(h), 1e-9)
         end
         local node, x, y = line:match('^node n(%d+) (%S+) (%S+)')
         if node then
            positions[tonumber(node)][1] = tonumber(x) / width
            positions[tonumber(node)][2] = tonumber(y) / height
         end
      end
   end
   os.remove(text)
   os.remove(plain)
   if not ok then
      error(message, 2)
   end
   return positions
end

-- Write `<fname>.dot`, and `<fname>.svg` where the program `dot` is. Without a name the picture is shown.
function graph.dot(g, title, fname)
   local show = fname == nil
   fname = fname or os.tmpname()
   write(fname .. '.dot', g:todot(title))
   local engine, reason = program('dot')
   if not engine then
      io.stderr:write(string.format('graph.dot: only %s.dot was written; %s\n', fname, reason))
      return
   end
   render(engine, 'svg', fname .. '.dot', fname .. '.svg')
   local viewer = show and (paths.findprogram('xdg-open') or paths.findprogram('open'))
   if viewer and os.getenv('DISPLAY') then
      os.execute(string.format('%s %s &', quote(viewer), quote(fname .. '.svg')))
   elseif show then
      io.stderr:write(string.format('graph.dot: the picture is in %s.svg\n', fname))
   end
end
