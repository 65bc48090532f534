-- ipc.client([host,] port [, seconds]): a connection to a server.
local torch = require 'torch'
local native = require 'bridge.native'
local transfer = require 'ipc.transfer'
local Connection = require 'ipc.connection'
local place = require 'ipc.place'

local C = native.C
local home = {}
local Client = torch.class('ipc.client', 'ipc.Connection', home)

local PATIENCE = 300 -- seconds in which a server may come up
local PAUSE, LONGEST = 0.01, 1 -- seconds until the next try: the first pause, and what it grows to
local NOWHERE, LATER = -4096, -4096 - 3 -- codes below are of names that cannot be resolved; perhaps later (EAI_AGAIN)

-- One try to reach an address of a host: what owns the descriptor, or nil and a code.
local function try(host, port, which, deadline)
   local descriptor = C.br_net_connect(host, port, which)
   if descriptor < 0 then
      return nil, descriptor
   end
   local owner = Connection.own(descriptor)
   local code
   repeat
      transfer.heed()
      code = C.br_net_connected(descriptor, transfer.slice)
   until code ~= C.BR_TIMEOUT or transfer.clock() > deadline
   if code == C.BR_DONE then
      return owner
   end
   Connection.disown(owner)
   return nil, code
end

-- The first address of a host that answers; or nil and what was wrong with the first of all.
local function connect(host, port, deadline)
   local first
   for which = 0, math.huge do
      local owner, code = try(host, port, which, deadline)
      if owner then
         return owner
      elseif code == C.BR_NET_NO_MORE or code < NOWHERE then
         return nil, first or code
      elseif code == C.BR_CLOSED then
         error('the process is ending', 0)
      end
      first = first or code
   end
end

function Client.netStats(self)
   return Connection.statistics(self.stats)
end

return function(host, port, seconds)
   if type(host) ~= 'string' then
      host, port, seconds = nil, host, port
   end
   host, port = place.check('client', host, port)
   seconds = place.patience('client', seconds, PATIENCE)
   local deadline, pause = transfer.clock() + seconds, PAUSE
   while true do
      local owner, code = connect(host, port, deadline)
      if owner then
         local self = torch.factory('ipc.client')()
         self:__init(owner, Connection.newstats())
         return self
      elseif transfer.clock() + pause > deadline or (code < NOWHERE and code ~= LATER) then
         error(string.format('ipc.client: no connection to %s:%d within %g seconds: %s', host, port, seconds,
            code == C.BR_TIMEOUT and 'no answer' or transfer.reason(code)), 2)
      end
      transfer.pause(pause)
      pause = math.min(2 * pause, LONGEST)
   end
end
