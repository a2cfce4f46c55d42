#include "postgres.h"

#include "invalidation.h"

void
invalidation_install_hooks(void)
{
}
