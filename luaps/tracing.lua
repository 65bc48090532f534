-- Trace: what happened to chosen keys on a node: where they were, which replicas existed, which intents.
local ffi = require 'ffi'
local C = require 'luaps.library'
local errors = require 'luaps.errors'
local keys = require 'luaps.keys'

local BATCH, NANOSECONDS = 1024, 1e9
local EVENTS = {
   [C.PS_TRACE_HERE] = 'here',
   [C.PS_TRACE_RELOCATED_IN] = 'relocated in',
   [C.PS_TRACE_RELOCATED_OUT] = 'relocated out',
   [C.PS_TRACE_REPLICA_MADE] = 'replica made',
   [C.PS_TRACE_REPLICA_ENDED] = 'replica ended',
   [C.PS_TRACE_INTENT_BEGINS] = 'intent begins',
   [C.PS_TRACE_INTENT_ENDS] = 'intent ends',
   [C.PS_TRACE_LOCALIZE] = 'localize',
}

local tracing = {}

-- Make a node that was just created record what happens to some keys, counted from 1, or to all ('all').
function tracing.begin(handle, chosen)
   if chosen == 'all' then
      errors.check(C.ps_node_trace(handle, nil, 0))
      return
   end
   if type(chosen) == 'string' then
      errors.raise("trace_keys is %s; it must be keys or 'all'", errors.shown(chosen))
   end
   local data, count = keys.read(keys.scratch(), chosen, 1, 'trace_keys')
   if count > 0 then
      errors.check(C.ps_node_trace(handle, data, count), 1)
   end
end

-- Take the recorded events in their order: a table of tables with time, key, event, and `to` for a key that moved to
-- another node. The second result is the number of older events that were dropped.
function tracing.take(handle, base)
   local batch, counts = ffi.new('ps_trace_event[?]', BATCH), ffi.new('int64_t[2]')
   local events, forgotten = {}, 0
   repeat
      errors.check(C.ps_node_take_trace(handle, batch, BATCH, counts, counts + 1))
      local count = tonumber(counts[0])
      forgotten = forgotten + tonumber(counts[1])
      for i = 0, count - 1 do
         local event = batch[i]
         events[#events + 1] = {
            time = tonumber(event.time_ns) / NANOSECONDS,
            key = tonumber(event.key) + base,
            event = EVENTS[event.kind],
            to = event.to >= 0 and event.to or nil,
         }
      end
   until count < BATCH
   return events, forgotten
end

return tracing
