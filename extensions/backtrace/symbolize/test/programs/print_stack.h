/* A program's own stack as a raw stack on standard output. */
#pragma once

#ifdef __cplusplus
extern "C"
#endif
	void
	print_stack(void);
