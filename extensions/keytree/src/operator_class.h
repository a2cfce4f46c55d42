/*-------------------------------------------------------------------------
 *
 * operator_class.h
 *	  amvalidate.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KEYTREE_OPERATOR_CLASS_H
#define KEYTREE_OPERATOR_CLASS_H

extern bool keytree_validate(Oid opclass);

#endif							/* KEYTREE_OPERATOR_CLASS_H */
