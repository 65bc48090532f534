-- `require` for names that begin with a dot: files beside the one that requires them, run (or loaded) each time. Kinds
-- of data are loaded as what they are.
local paths = require 'paths'

local function serialized(file)
   return torch.load(file)
end

local function text(file)
   local open = assert(io.open(file))
   local content = open:read('*all')
   open:close()
   return content
end

local loaders = {
   th = serialized,
   net = function(file)
      require 'nn'
      return torch.load(file)
   end,
   json = function(file) return require('cjson').decode(text(file)) end,
   csv = function(file) return require('csvigo').load(file) end,
}

-- What `name` stands for in the file whose source is `source`.
return function(name, source)
   local file = source:gsub('^@', '')
   local path = paths.concat(paths.filep(file) and paths.dirname(file) or '.', name)
   if paths.filep(path .. '.lua') then
      return dofile(path .. '.lua')
   end
   local load = loaders[path:match('%.(%l+)$')] or dofile
   if paths.filep(path) then
      return load(path)
   end
   for _, kind in ipairs{'th', 'net', 'json', 'csv'} do
      if paths.filep(path .. '.' .. kind) then
         return loaders[kind](path .. '.' .. kind)
      end
   end
   return dofile(paths.concat(path, 'init.lua'))
end
