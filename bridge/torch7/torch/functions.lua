-- Functions in files: their bytecode and upvalues. A function read from a file is real where that is allowed and the
-- bytecode is this LuaJIT's; otherwise it is a stand-in that raises when called and is written as it was read.
local native = require 'bridge.native'
local references = require 'torch.references'

local functions = {}

local standins = setmetatable({}, {__mode = 'k'}) -- stand-in -> true; its record is its upvalue

local function standin(record)
   local function call()
      error(record.reason, 2)
   end
   standins[call] = true
   return call
end

-- What a stand-in stands for: {code, upvalues, reason}; nothing for other functions.
local function recordof(f)
   if standins[f] then
      local _, record = debug.getupvalue(f, 1)
      return record
   end
end

-- Is it only kept, as it came from a file, and not to be run?
function functions.isstandin(f)
   return standins[f] ~= nil
end

-- The bytecode of a function; nothing for one that has none (a C function).
function functions.dump(f)
   local record = recordof(f)
   if record then
      return record.code
   end
   local name = references.name(f)
   if name then
      return references.code(name)
   end
   local ok, code = pcall(string.dump, f)
   return ok and code or nil
end

-- Its upvalues as they are written: {name, id, value} each, the id being the same for upvalues that are shared;
-- packages and classes of ours are `own`, a name, instead of a value. `ids` numbers them within one file. Those of a
-- stand-in are whatever the file said; our functions, which are written by name, have none.
function functions.upvalues(f, ids)
   local record = recordof(f)
   if record then
      return record.upvalues
   end
   local list = {}
   if references.name(f) then
      return list
   end
   for i = 1, math.huge do
      local name, value = debug.getupvalue(f, i)
      if not name then
         return list
      end
      local shared = debug.upvalueid(f, i)
      if not ids[shared] then
         ids.n = (ids.n or 0) + 1
         ids[shared] = ids.n
      end
      local own = type(value) == 'table' and references.name(value) or nil
      list[i] = {name = name, id = ids[shared], own = own}
      if not own then
         list[i].value = value
      end
   end
end

local FORBIDDEN = 'a function that was stored in a file was called: functions in files are code of whoever wrote the '
   .. 'file; bridge.Lua(allow_functions=True) lets them run'

-- The function of a piece of bytecode; `trusted` when it is the program's own, `distrusted` (a message) when it must
-- not run.
function functions.load(code, trusted, distrusted)
   local reason = distrusted or FORBIDDEN
   if trusted or (native.allow_functions and not distrusted) then
      local own = references.function_(code)
      if own then
         return own
      end
      local f, message = load(code, '=(file)', 'b')
      if f then
         return f
      end
      reason = 'a function that was stored in a file was called, but this LuaJIT cannot load it: ' .. tostring(message)
   end
   return standin{code = code, upvalues = {}, reason = reason}
end

-- Give a function the upvalues that were read; `joined` (id -> {function, index}) lets functions share them. Old files
-- have bare values.
function functions.setupvalues(f, upvalues, bare, joined)
   local record = recordof(f)
   if record then
      record.upvalues = upvalues
      return
   elseif type(upvalues) ~= 'table' then
      error('corrupt file: the upvalues of a function are a ' .. type(upvalues), 0)
   elseif references.name(f) then
      return -- one of ours keeps its own
   end
   for i, upvalue in pairs(upvalues) do
      if type(i) == 'number' then
         if bare then
            debug.setupvalue(f, i, upvalue)
         elseif type(upvalue) == 'table' then
            local own = type(upvalue.own) == 'string' and references.find(upvalue.own)
            debug.setupvalue(f, i, own or upvalue.value)
            local id = upvalue.id
            local first = id and joined[id]
            if first then
               debug.upvaluejoin(f, i, first[1], first[2])
            elseif id then
               joined[id] = {f, i}
            end
         end
      end
   end
end

return functions
