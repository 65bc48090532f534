-- The optim of Torch7. One file per algorithm; a new one is its file and its name in this list.
--
-- Algorithms are called as `x, {f, ...} = optim.sgd(opfunc, x, config, state)`: opfunc(x) gives f and df/dx, x is
-- changed in place, and what an algorithm remembers is kept in `state`, or in `config` if there is no state.
require 'torch'

optim = optim or {}
package.loaded.optim = optim

local algorithms = {
   -- a step along the gradient
   'sgd', 'asgd', 'nag', 'adagrad', 'adadelta', 'adam', 'adamax', 'rmsprop', 'rprop',
   -- many steps a call
   'cg', 'polyinterp', 'lswolfe', 'lbfgs', 'FistaLS',
   -- without a gradient
   'cmaes', 'de',
   'checkgrad',
}
for _, name in ipairs(algorithms) do
   optim[name] = require('optim.' .. name)
end

require 'optim.ConfusionMatrix'
require 'optim.Logger'

return optim
