/*-------------------------------------------------------------------------
 *
 * errors.h
 *	  Stacks of errors.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BACKTRACE_ERRORS_H
#define BACKTRACE_ERRORS_H

extern void errors_install_hooks(void);

#endif							/* BACKTRACE_ERRORS_H */
