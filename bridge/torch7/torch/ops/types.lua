-- The lists of element types that operations exist for.
local ALL = {'Byte', 'Char', 'Short', 'Int', 'Long', 'Half', 'Float', 'Double'}

return {
   ALL = ALL,
   NUMERIC = {'Byte', 'Char', 'Short', 'Int', 'Long', 'Float', 'Double'},
   INTEGER = {'Byte', 'Char', 'Short', 'Int', 'Long'},
   FLOAT = {'Float', 'Double'},
   BYTE = {'Byte'},
}
