-- The functions that compile source, which they first rewrite: load, loadstring, loadfile, dofile and the search of
-- `require` for Lua files. Names, lines and messages remain those of the original source. Our own files run in our
-- environment (scope.lua), unless another is given.
local scope = require 'bridge.runtime.scope'
local compiled = require 'bridge.runtime.compiled'
local statements = require 'bridge.runtime.statements'

local loaders = {}

local nativeload, nativeloadfile, open = load, loadfile, io.open

-- Compile `source`; `...` may be an environment. If the compiler refuses it, try again with rewritten statements. If it
-- refuses those too, try the original source, because rewriting may have exceeded a limit of the compiler.
local function compile(rewrite, source, name, mode, ...)
   local rewritten = rewrite(source)
   local chunk, message = nativeload(rewritten, name, mode, ...)
   if chunk or string.find(source, '^\27') then
      return chunk, message
   end
   local relaxed = statements.relax(source)
   if relaxed ~= source then
      chunk, message = nativeload(rewrite(relaxed), name, mode, ...)
   end
   if chunk or rewritten == source then
      return chunk, message
   end
   chunk = nativeload(source, name, mode, ...)
   return chunk, not chunk and message or nil
end

-- The results in the form of the native functions: only the chunk, or nil and a message.
local function answer(chunk, message)
   if chunk then
      return chunk
   end
   return nil, message
end

local function collect(reader)
   local pieces = {}
   while true do
      local piece = reader()
      if piece == nil or piece == '' then
         return table.concat(pieces)
      elseif type(piece) ~= 'string' then
         error('reader function must return a string', 0)
      end
      pieces[#pieces + 1] = piece
   end
end

local function expect(kinds, index, what, value)
   if not kinds[type(value)] then
      error(string.format("bad argument #%d to '%s' (%s expected, got %s)", index, what,
         kinds['function'] and 'function' or 'string', value == nil and 'no value' or type(value)), 3)
   end
end

local text = {string = true, number = true}
local textorreader = {string = true, number = true, ['function'] = true}

-- A file's text and chunk name; nil if it cannot be read, so that the native function reports the reason.
local function read(filename)
   if filename == nil then
      return io.read('*a'), '=stdin'
   end
   local file = open(filename, 'rb')
   local content = file and file:read('*a')
   if file then
      file:close()
   end
   return content, '@' .. filename
end

-- A table of the loading functions, with `rewrite` applied to all source.
function loaders.new(rewrite)
   local new = {}

   function new.load(chunk, name, mode, ...)
      expect(textorreader, 1, 'load', chunk)
      if type(chunk) ~= 'function' then
         chunk = tostring(chunk)
         return answer(compile(rewrite, chunk, name or chunk, mode, ...))
      end
      local ok, source = pcall(collect, chunk)
      if not ok then
         return nil, source
      end
      return answer(compile(rewrite, source, name or '=(load)', mode, ...))
   end

   function new.loadstring(chunk, name, ...)
      expect(text, 1, 'loadstring', chunk)
      chunk = tostring(chunk)
      return answer(compile(rewrite, chunk, name or chunk, ...))
   end

   local function fromfile(filename, mode, ...)
      local source, name = read(filename)
      if not source then
         return nativeloadfile(filename, mode, ...)
      end
      return compile(rewrite, source, name, mode, ...)
   end

   function new.loadfile(filename, mode, ...)
      if mode == nil and select('#', ...) == 0 and filename and scope.ours(filename) then
         local chunk, message = compiled.file('language', filename, fromfile)
         return answer(chunk and setfenv(chunk, scope.environment), message)
      end
      return answer(fromfile(filename, mode, ...))
   end

   function new.dofile(filename)
      local chunk, message = new.loadfile(filename)
      if not chunk then
         error(message, 0)
      end
      return chunk()
   end

   -- The searcher for package.loaders that finds modules written in Lua.
   function new.searcher(name)
      local filename, stamp = compiled.find(name)
      local other, tried
      if not filename then
         other, tried = package.searchpath(name, package.path)
         if not other then
            filename, stamp = compiled.installed(name)
         end
      end
      if filename then
         scope.enter(name)
         local chunk = setfenv(assert(compiled.file('language', filename, fromfile, stamp)), scope.environment)
         return function(...)
            return compiled.interpreted(chunk, ...)
         end
      end
      if not other then
         return tried
      end
      local chunk, message = new.loadfile(other)
      if not chunk then
         error(string.format("error loading module '%s' from file '%s':\n\t%s", name, other, message), 0)
      end
      return chunk
   end

   return new
end

return loaders
