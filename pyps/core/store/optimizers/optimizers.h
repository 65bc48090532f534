// The optimizers that a server can apply to what is pushed: a rule each, made in a file of its own.
#pragma once

#include "store/rules.h"

namespace ps {

Rules make_optimizers();

Rule make_sgd();
Rule make_adagrad();
Rule make_rowwise_adagrad();
Rule make_adam();
Rule make_adamw();
Rule make_rmsprop();
Rule make_ftrl();

} // namespace ps
