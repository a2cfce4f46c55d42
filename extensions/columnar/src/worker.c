#include "postgres.h"

#include "worker.h"

bool		penumbra_auto = true;

void
worker_define_settings(void)
{
}

void
worker_register_launcher(void)
{
}
