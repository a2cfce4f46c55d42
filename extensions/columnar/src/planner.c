#include "postgres.h"

#include "planner.h"

void
planner_define_settings(void)
{
}

void
planner_install_hooks(void)
{
}
