-- What torch.Tester writes: a line for each test while it runs, and what came of all of them.
local WIDTH = 80
local MARGIN = 8 -- the status in its brackets, and a blank on both sides of the dots

local report = {}

local colours = {cyan = '\27[0;36m', yellow = '\27[0;33m', magenta = '\27[0;35m', red = '\27[0;31m',
   green = '\27[0;32m'}

-- In a colour, in programs that have `arg`, as those of th.
local function coloured(text, colour)
   if rawget(_G, 'arg') then
      return colours[colour] .. text .. '\27[0m'
   end
   return text
end

local function many(n, word)
   return n .. ' ' .. word .. (n == 1 and '' or 's')
end

local function bracket(status, colour)
   return '[' .. coloured(status, colour) .. ']'
end

function report.begin(count)
   io.write('Running ' .. many(count, 'test') .. '\n')
end

-- The line of test number i while it runs; report.finish writes over it.
function report.start(name, i, count)
   local digits = tostring(count):len()
   local number = string.format('%' .. digits .. 'd/%d ', i, count)
   local dots = ('.'):rep(WIDTH - MARGIN - 2 * digits - 2 - #name)
   local line = coloured(number, 'cyan') .. name .. ' ' .. dots .. ' '
   io.write(line .. bracket('WAIT', 'cyan'))
   io.flush()
   return line
end

local statuses = {PASS = 'green', FAIL = 'red', ERROR = 'magenta', SKIP = 'yellow'}

function report.finish(line, status, warned)
   io.write('\r' .. line .. bracket(status, statuses[status]))
   if warned then
      io.write('\n' .. (' '):rep(WIDTH - 10) .. bracket('+warning', 'yellow'))
   end
   io.write('\n')
   io.flush()
end

function report.aborted()
   io.write('Aborting on first error, not all tests have been executed\n')
end

-- `count`: a table of how many tests, asserts, failures, errors, warnings and skipped ones there were.
function report.summary(count)
   io.write('Completed ' .. many(count.asserts, 'assert') .. ' in ' .. many(count.tests, 'test') .. ' with ',
      coloured(many(count.failures, 'failure'), count.failures == 0 and 'green' or 'red'), ' and ',
      coloured(many(count.errors, 'error'), count.errors == 0 and 'green' or 'magenta'))
   if count.warnings > 0 then
      io.write(' and ', coloured(many(count.warnings, 'warning'), 'yellow'))
   end
   if count.skipped > 0 then
      io.write(' and ', coloured(count.skipped .. ' disabled', 'yellow'))
   end
   io.write('\n')
end

-- Messages between lines of dashes.
function report.sections(...)
   local dashes = ('-'):rep(WIDTH) .. '\n'
   local before = dashes
   for _, list in ipairs{...} do
      for _, message in ipairs(list) do
         io.write(before, message, '\n', dashes)
         before = ''
      end
   end
end

return report
