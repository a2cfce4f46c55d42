/*-------------------------------------------------------------------------
 *
 * takeover.h
 *	  The two ways in which queries come to use the functions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_NUMERIC_TAKEOVER_H
#define PENUMBRA_NUMERIC_TAKEOVER_H

/* search_path.c: by name, for what is parsed afterwards */
extern void search_path_define_settings(void);

/* plan_rewrite.c: by plan, for everything */
extern void plan_rewrite_define_settings(void);
extern void plan_rewrite_install_hook(void);

#endif							/* PENUMBRA_NUMERIC_TAKEOVER_H */
