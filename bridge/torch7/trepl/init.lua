-- The trepl package. Its interactive mode is th's own, and is there without it.
require 'trepl.colorize'

return {colorize = require 'trepl.colorize'}
