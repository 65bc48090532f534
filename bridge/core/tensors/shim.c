#include "tensors/shim.h"

br_shim br_torch;
static _Thread_local const char *failure;

const char *br_torch_error(void) { return failure ? failure : "torch refused the call"; }

int br_torch_failed(const char *why)
{
   failure = why ? why : br_torch.what ? br_torch.what() : NULL;
   return -1;
}
