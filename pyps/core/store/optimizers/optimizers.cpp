#include "store/optimizers/optimizers.h"

namespace ps {

// A number is part of stores that other processes use: new ones come at the end.
Rules make_optimizers() {
    return {make_sgd(), make_adagrad(), make_rowwise_adagrad(), make_adam(), make_adamw(), make_rmsprop(), make_ftrl()};
}

} // namespace ps
