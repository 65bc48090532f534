-- The functions `write` and `read` of classes that do what objects without such functions get: put the fields in a file
-- as one table, and take them from there. Files need not call them, so that objects may nest as deeply as tables.
return setmetatable({}, {__mode = 'k'})
