-- Penlight: `require 'pl'` makes each of its modules a global, loaded when its name is first read.
require 'pl.import_into'(_G)

return {}
