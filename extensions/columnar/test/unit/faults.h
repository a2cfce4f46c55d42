/*-------------------------------------------------------------------------
 *
 * faults.h
 *	  System calls of the disk cache's files that fail on demand.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_TEST_FAULTS_H
#define PENUMBRA_TEST_FAULTS_H

typedef enum FaultKind
{
	FAULT_IO,
	FAULT_NO_SPACE,
	/* only of what transfers bytes: */
	FAULT_INTERRUPTED,
	FAULT_SHORT,				/* half is transferred */
	FAULT_KINDS
} FaultKind;

extern long fault_calls;		/* so far */
extern long fault_at;			/* the one that fails; 0: none */
extern FaultKind fault_kind;
extern bool fault_refuses_events;	/* of asynchronous reads */

#endif							/* PENUMBRA_TEST_FAULTS_H */
