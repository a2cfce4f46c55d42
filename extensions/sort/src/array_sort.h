/*-------------------------------------------------------------------------
 *
 * array_sort.h
 *	  What the parts of the extension share.  See README.md.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PENUMBRA_ARRAY_SORT_H
#define PENUMBRA_ARRAY_SORT_H

#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/sortsupport.h"

#include "penumbra/sort.h"

/* The most that one call into the kernels sorts: it can't be interrupted, and takes some 30 ms. */
#define SORT_PIECE_BYTES ((int64) 16 << 20)
/* Steps of the simple loops between two looks at interrupts. */
#define LOOP_PIECE ((int64) 1 << 16)
#define CHECK_IN_LOOP(i) \
	do { if (unlikely(((i) & (LOOP_PIECE - 1)) == 0)) CHECK_FOR_INTERRUPTS(); } while (0)

/* Candidates that sort_top() looks at between two cuts, besides those it keeps. */
#define TOP_SLACK 8192

/* How the order of a type is known. */
typedef enum ElementOrder
{
	/* Whole values are keys of the kernels, possibly after encoding. */
	ORDER_INTEGER,
	ORDER_FLOAT,
	ORDER_BYTES16,
	/* A key per element that is right as far as it tells elements apart. */
	ORDER_TEXT_C,				/* eight bytes at a time */
	ORDER_ABBREVIATED,			/* the type's own abbreviated key, then its comparison */
	ORDER_COMPARED				/* no key, only the type's comparison */
} ElementOrder;

/* What sorting needs to know of an element type; lives in fn_extra. */
typedef struct ElementType
{
	Oid			element_type;
	Oid			collation;
	int16		length;
	bool		by_value;
	char		align;
	ElementOrder order;
	PenumbraKeyKind kind;		/* of ORDER_INTEGER, _FLOAT, _BYTES16 */

	/* The others: comparison of whole values, and the map to keys. */
	MemoryContext context;
	SortSupportData sort_support;
	int			(*compare) (Datum x, Datum y, SortSupport ssup);
	uint64		key_flip;		/* makes the abbreviated key an unsigned one */
	bool		keys_are_cheap; /* to make, compared with a comparison */
	int64		abbreviated;	/* of this call */
	int64		next_abort_check;
} ElementType;

/* What of the sorted array is wanted. */
typedef struct SortRequest
{
	bool		descending;
	bool		unique;
	int64		limit;			/* -1: all */
} SortRequest;

/* A one-dimensional array in one piece. */
typedef struct SortInput
{
	ArrayType  *array;
	bool		is_copy;		/* may be changed and freed */
	int			count;
	int			value_count;	/* those not null */
} SortInput;

#define ELEMENT_IS_FIXED_WIDTH(type) ((type)->order <= ORDER_BYTES16)

/* element_type.c */
extern ElementType *look_up_element_type(FunctionCallInfo fcinfo, Oid element_type,
										 bool whole_values);
extern void lookup_key_kind(Oid element_type, ElementType *type);
extern int64 key_width(PenumbraKeyKind kind);

/* distribute.c */
extern void *alloc_in_pieces(int64 bytes);
extern void *alloc_keys(PenumbraKeyKind kind, int64 count);
extern void free_keys(void *keys);
extern bool keys_are_ordered(PenumbraKeyKind kind, const void *keys, int64 count, bool descending);
extern bool keys_fit_one_call(PenumbraKeyKind kind, int64 count);
extern void sort_keys_into(PenumbraKeyKind kind, const void *keys, int64 count, bool descending,
						   void *out);
extern void sort_keys_in_place(PenumbraKeyKind kind, void *keys, int64 count, bool descending);
extern void sort_unless_ordered(PenumbraKeyKind kind, void *keys, int64 count);
extern void reverse_keys(PenumbraKeyKind kind, void *keys, int64 count);
extern void copy_in_pieces(void *to, const void *from, int64 bytes);

/* input.c */
extern SortInput get_input(Datum argument);

/* fixed_width.c */
extern int64 encode_floats(PenumbraKeyKind kind, void *values, int64 count);
extern void decode_floats(PenumbraKeyKind kind, void *keys, int64 count);
extern ArrayType *sort_fixed_width(const ElementType *type, const SortInput *input,
								   const SortRequest *request);
extern ArrayType *top_of_fixed_width(const ElementType *type, const SortInput *input, int64 limit);

/* keyed.c */
extern ArrayType *sort_by_key(ElementType *type, const SortInput *input,
							  const SortRequest *request);
extern ArrayType *top_by_key(ElementType *type, const SortInput *input, int64 limit);
extern ArrayType *subscripts_in_order(ElementType *type, const SortInput *input);

/* refine.c */
extern int	compare_elements(ElementType *type, const char *data, const PenumbraWideKey *x,
							 const PenumbraWideKey *y);
extern bool comes_before(ElementType *type, const char *data, bool descending,
						 const PenumbraWideKey *x, const PenumbraWideKey *y);
extern uint64 leading_text_key(const char *text);
extern void order_elements(ElementType *type, const char *data, bool descending,
						   PenumbraWideKey *keys, int64 count);

/* result.c */
extern ArrayType *alloc_result(const SortInput *input, int count, int value_count, int64 data_bytes);
extern void mark_nulls_last(ArrayType *result, int count, int value_count);

/*
 * The low half of a wide key: where the element is in the array's data, which
 * rises with its number, so that equal elements keep their order, and the
 * number itself.
 */
#define ELEMENT_PLACE(offset, index) ((uint64) (offset) << 32 | (uint32) (index))
#define PLACE_OFFSET(key) ((uint32) ((key)->low >> 32))
#define PLACE_INDEX(key) ((uint32) (key)->low)

#endif							/* PENUMBRA_ARRAY_SORT_H */
