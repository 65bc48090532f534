-- Hosts and ports as programs give them. Nothing is reached from other hosts unless a program says so.
local place = {host = '127.0.0.1'}

-- A host and a port for the function named `name`.
function place.check(name, host, port)
   host = host == nil and place.host or host
   if type(host) ~= 'string' or host == '' or host:find('%z') then
      error(string.format('ipc.%s: name or address of a host expected, got %s', name,
         type(host) == 'string' and string.format('%q', host) or type(host)), 3)
   end
   local number = tonumber(port)
   if not number or number < 0 or number > 65535 or number ~= math.floor(number) then
      error(string.format('ipc.%s: a port from 0 to 65535 expected, got %s', name, tostring(port)), 3)
   end
   return host, number
end

-- How long to wait for others, in seconds.
function place.patience(name, seconds, default)
   local number = seconds == nil and default or tonumber(seconds)
   if not number or not (number >= 0) then
      error(string.format('ipc.%s: a number of seconds expected, got %s', name, tostring(seconds)), 3)
   end
   return number
end

return place
