-- `#x` that uses `__len` of tables, as in Lua 5.2, for a LuaJIT that was built without that.
--
-- `rewrite` turns every unary `#` in a source into a call of a string, which the metatable of strings makes possible:
-- `#x` becomes `(("")(x))`. This needs no local (a chunk may have used all 200), no upvalue (60) and no global (setfenv
-- may have removed it). It adds no line, and LuaJIT compiles it to the same machine code as `#` for a plain table or
-- a string. The outer parentheses prevent that `return #x` becomes a tail call.
local lexer = require 'bridge.runtime.lexer'

local find, sub = string.find, string.sub
local skip, long, quoted, word = lexer.skip, lexer.long, lexer.quoted, lexer.word

local hash = {}

local malformed = {}

local function must(pos)
   return pos or error(malformed, 0)
end

local Rewriter = {}
Rewriter.__index = Rewriter

-- Output the source up to `pos`, then `text`; copying continues at `from`.
function Rewriter:emit(pos, text, from)
   local out = self.out
   out[#out + 1] = sub(self.source, self.copied, pos - 1)
   out[#out + 1] = text
   self.copied = from
end

-- Rewrite the `#` at `pos` with its operand. Returns where the operand ends.
function Rewriter:hash(pos)
   self:emit(pos, '(("")(', pos + 1)
   local stop = self:operand(pos + 1)
   self:emit(stop, '))', stop)
   return stop
end

-- Pass over a string, comment, long bracket or `#` (which is rewritten) at `pos`, or else one byte.
function Rewriter:step(pos)
   local source = self.source
   if find(source, '^["\']', pos) then
      return must(quoted(source, pos))
   elseif find(source, '^%-%-', pos) then
      return must(lexer.comment(source, pos))
   elseif find(source, '^#', pos) then
      return self:hash(pos)
   end
   local stop = long(source, pos)
   if stop ~= nil then
      return must(stop)
   end
   return pos + 1
end

-- Pass over the group whose bracket opens at `pos`.
function Rewriter:group(pos)
   local source, depth = self.source, 1
   pos = pos + 1
   while true do
      pos = must(find(source, '[#"\'%-%[%](){}]', pos))
      if find(source, '^[({]', pos) then
         depth, pos = depth + 1, pos + 1
      elseif find(source, '^[)}%]]', pos) then
         depth, pos = depth - 1, pos + 1
         if depth == 0 then
            return pos
         end
      elseif find(source, '^%[', pos) and long(source, pos) == nil then
         depth, pos = depth + 1, pos + 1
      else
         pos = self:step(pos)
      end
   end
end

local blocks = {['function'] = 1, ['if'] = 1, ['do'] = 1, ['repeat'] = 1, ['end'] = -1, ['until'] = -1}

-- Pass over the rest of an anonymous function, from the end of its keyword to the end of its `end`.
function Rewriter:body(pos)
   local source, depth = self.source, 1
   while depth > 0 do
      pos = must(find(source, '[%w_\128-\255#"\'%-%[]', pos))
      local stop = word(source, pos)
      if stop then
         depth = depth + (blocks[sub(source, pos, stop - 1)] or 0)
         pos = stop
      else
         pos = lexer.number(source, pos) or self:step(pos)
      end
   end
   return pos
end

-- Pass over the fields, indices and calls after a primary expression that ends at `pos`.
function Rewriter:suffixes(pos)
   local source = self.source
   while true do
      local at = skip(source, pos)
      if find(source, '^%.[^.]', at) or find(source, '^:[^:]', at) then
         pos = must(word(source, skip(source, at + 1)))
      elseif find(source, '^["\']', at) then
         pos = must(quoted(source, at))
      elseif find(source, '^[({]', at) then
         pos = self:group(at)
      elseif find(source, '^%[', at) then
         local stop = long(source, at)
         if stop == nil then
            pos = self:group(at)
         else
            pos = must(stop)
         end
      else
         return pos
      end
   end
end

local constants = {['nil'] = true, ['true'] = true, ['false'] = true}

function Rewriter:simple(pos)
   local source = self.source
   local stop = word(source, pos)
   if stop then
      local name = sub(source, pos, stop - 1)
      if name == 'function' then
         return self:body(stop)
      end
      return constants[name] and stop or self:suffixes(stop)
   end
   if find(source, '^%(', pos) then
      return self:suffixes(self:group(pos))
   elseif find(source, '^{', pos) then
      return self:group(pos)
   elseif find(source, '^["\']', pos) then
      return must(quoted(source, pos))
   elseif find(source, '^%.%.%.', pos) then
      return pos + 3
   end
   return must(lexer.number(source, pos) or long(source, pos))
end

-- Pass over the operand of a unary operator that ends at `pos`: further unary operators, then a simple expression with
-- its powers (`#a^b` is `#(a^b)`).
function Rewriter:operand(pos)
   local source = self.source
   pos = skip(source, pos)
   if find(source, '^#', pos) then
      return self:hash(pos)
   elseif find(source, '^-', pos) then
      return self:operand(pos + 1)
   end
   local stop = word(source, pos)
   if stop and sub(source, pos, stop - 1) == 'not' then
      return self:operand(stop)
   end
   stop = self:simple(pos)
   local at = skip(source, stop)
   if find(source, '^%^', at) then
      return self:operand(at + 1)
   end
   return stop
end

local function rewrite(source)
   local self = setmetatable({source = source, out = {}, copied = 1}, Rewriter)
   local pos = lexer.header(source)
   while true do
      pos = find(source, '[#"\'%-%[]', pos)
      if not pos then
         break
      end
      pos = self:step(pos)
   end
   if self.copied == 1 then
      return source
   end
   self:emit(#source + 1, '', 0)
   return table.concat(self.out)
end

-- The source with every unary `#` rewritten. Byte code, and text that is not Lua, are returned unchanged.
function hash.rewrite(source)
   if not find(source, '#', 1, true) or find(source, '^\27', lexer.header(source)) then
      return source
   end
   local ok, result = pcall(rewrite, source)
   if ok then
      return result
   elseif result ~= malformed and not tostring(result):find('stack overflow', 1, true) then
      error(result, 0)
   end
   return source
end

local getmetatable, rawget, type, error = getmetatable, rawget, type, error
local realmetatable = debug.getmetatable

local function length(metatable, object)
   if type(metatable) ~= 'table' then -- hidden by __metatable
      metatable = realmetatable(object)
   end
   local len = rawget(metatable, '__len')
   if len then
      return (len(object))
   end
   return #object
end

local measurable = {string = true, userdata = true, cdata = true}

-- The `__call` of strings. Of an empty string: the length of `object`. Any other string was called by mistake.
function hash.call(text, object)
   if text ~= '' then
      error('attempt to call a string value', 2)
   end
   local kind = type(object)
   if kind == 'table' then
      local metatable = getmetatable(object)
      if metatable == nil then
         return #object
      end
      return length(metatable, object)
   elseif measurable[kind] then
      return #object
   end
   error('attempt to get length of a ' .. kind .. ' value', 2)
end

return hash
