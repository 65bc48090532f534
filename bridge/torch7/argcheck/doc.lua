-- Collects documentation: between record() and stop(), doc'text' and the help of every checker that is made.
local doc = {}

local recorded

function doc.record()
   recorded = {}
end

-- The text that came since record().
function doc.stop()
   local text = table.concat(recorded or {})
   recorded = nil
   return text
end

function doc.recording()
   return recorded ~= nil
end

function doc.doc(text)
   if recorded then
      recorded[#recorded + 1] = text
   end
end

return setmetatable(doc, {__call = function(_, text) doc.doc(text) end})
