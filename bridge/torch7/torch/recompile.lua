-- Keeps this library's functions compilable.
--
-- LuaJIT gives up on a function for good after it failed a few times to start a trace there: small functions called
-- from interpreted code always fail ("leaving loop"), and a finalizer that runs meanwhile fails any. Afterwards no loop
-- that calls the function is compiled either. When that is what stops a trace, the function gets another chance.
local BLACKLISTED = 5 -- the error's number in LuaJIT 2.1
local CHANCES = 30    -- for one function

local chances = setmetatable({}, {__mode = 'k'})

local STRIPPED = '=?' -- the source of code without debug information: torch.element

local function ours(f)
   local source = debug.getinfo(f, 'S').source
   return source == STRIPPED or source:find('[/=]torch[/.]') ~= nil or source:find('/nn/', 1, true) ~= nil
end

jit.attach(function(what, _, f, _, reason)
   if what ~= 'abort' or reason ~= BLACKLISTED or type(f) ~= 'function' then
      return
   end
   local used = chances[f] or 0
   if used < CHANCES and (used > 0 or ours(f)) then
      chances[f] = used + 1
      jit.on(f)
   end
end, 'trace')
