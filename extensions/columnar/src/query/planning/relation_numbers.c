/*-------------------------------------------------------------------------
 *
 * relation_numbers.c
 *	  The numbers by which pipelines call relations.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
#include "utils/ruleutils.h"

#include "query/planning/planning.h"
#include "query/planning/relation_numbers.h"

RangeTblEntry *
relation_numbers_set_operation(PlannerInfo *root)
{
	Planning   *planning = planning_current();
	RangeTblEntry *rte;
	ListCell   *lc;

	foreach(lc, planning->set_operations)
	{
		rte = lsecond((List *) lfirst(lc));
		if (linitial((List *) lfirst(lc)) == root)
			return rte;
	}
	rte = list_nth(planning->names, relation_number_add("set_operation", NULL) - 1);
	foreach(lc, root->parse->targetList)
		rte->eref->colnames = lappend(rte->eref->colnames, makeString(pstrdup(lfirst_node(TargetEntry, lc)->resname)));
	rte->eref->colnames = lappend(rte->eref->colnames, makeString("flag"));
	planning->set_operations = lappend(planning->set_operations, list_make2(root, rte));
	return rte;
}

/* Entries are told apart by their addresses: each belongs to one level, and stays while it is planned. */
Index
relation_number_of(PlannerInfo *root, Index relid)
{
	Planning   *planning = planning_current();
	RangeTblEntry *rte;
	ListCell   *lc;

	Assert(relid < (Index) root->simple_rel_array_size);
	rte = relid == 0 ? relation_numbers_set_operation(root) : root->simple_rte_array[relid];
	if (planning->last_name < list_length(planning->names) && list_nth(planning->names, planning->last_name) == rte)
		return planning->last_name + 1;
	foreach(lc, planning->names)
	{
		if (lfirst(lc) == rte)
			return (planning->last_name = foreach_current_index(lc)) + 1;
	}
	planning->last_name = list_length(planning->names);
	planning->names = lappend(planning->names, rte);
	return planning->last_name + 1;
}

Index
relation_number_relid(const PlannerInfo *root, Index number)
{
	const RangeTblEntry *rte = list_nth(planning_current()->names, number - 1);
	Index		relid = root->simple_rel_array_size - 1;

	while (relid > 0 && root->simple_rte_array[relid] != rte)
		relid--;
	return relid;
}

RelOptInfo *
relation_number_rel(const PlannerInfo *root, Index number)
{
	Index		relid = relation_number_relid(root, number);
	RelOptInfo *found = relid == 0 ? NULL : root->simple_rel_array[relid];

	for (int i = 1; i < root->simple_rel_array_size && found == NULL; i++)
	{
		const RelOptInfo *rel = root->simple_rel_array[i];

		if (rel != NULL && rel->subroot != NULL)
			found = relation_number_rel(rel->subroot, number);
	}
	return found;
}

Index
relation_number_add(const char *alias, const char *column)
{
	Planning   *planning = planning_current();
	RangeTblEntry *rte = makeNode(RangeTblEntry);

	rte->rtekind = RTE_CTE;
	rte->eref = makeAlias(pstrdup(alias), column == NULL ? NIL : list_make1(makeString(pstrdup(column))));
	planning->names = lappend(planning->names, rte);
	return list_length(planning->names);
}

Var *
relation_number_add_column(Index number, Node *expr, List **exprs, List **names)
{
	RangeTblEntry *rte = list_nth(planning_current()->names, number - 1);
	int			column = list_length(rte->eref->colnames) + 1;
	Var		   *var = makeVar(number, column, exprType(expr), exprTypmod(expr), exprCollation(expr), 0);

	rte->eref->colnames = lappend(rte->eref->colnames, makeString(psprintf("col%d", column)));
	*exprs = lappend(*exprs, expr);
	*names = lappend(*names, var);
	return var;
}

const PlaceHolderInfo *
relation_numbers_find_placeholder(const PlannerInfo *root, const PlaceHolderVar *placeholder)
{
	ListCell   *lc;

	foreach(lc, root->placeholder_list)
	{
		const PlaceHolderInfo *info = lfirst_node(PlaceHolderInfo, lc);

		if (info->phid == placeholder->phid)
			return info;
	}
	return NULL;
}

typedef struct Replacement
{
	const PlannerInfo *root;
	const Node *expr;
	int			number;			/* of the relation that it reads */
	const Var  *var;
} Replacement;

static bool
first_number_walker(Node *node, void *number)
{
	if (node == NULL)
		return false;
	if (!IsA(node, Var))
		return expression_tree_walker(node, first_number_walker, number);
	*(int *) number = ((const Var *) node)->varno;
	return true;
}

static Node *
put_mutator(Node *node, void *context)
{
	const Replacement *replacement = context;

	if (node == NULL)
		return NULL;
	if (nodeTag(node) == nodeTag(replacement->expr) && equal(node, replacement->expr))
		return copyObject((Node *) replacement->var);
	return expression_tree_mutator(node, put_mutator, context);
}

void
relation_numbers_replace(PlannerInfo *root, Node *normalized, Var *var)
{
	Planning   *planning = planning_current();
	Replacement *replacement = palloc(sizeof(Replacement));
	ListCell   *lc;

	*replacement = (Replacement) {.root = root,.expr = normalized,.var = var};
	(void) first_number_walker(normalized, &replacement->number);
	/* Leaves are replaced first: what is around them speaks of the new one.  Columns are replaced last. */
	foreach(lc, IsA(normalized, Var) ? NIL : planning->replacements)
	{
		Replacement *around = lfirst(lc);

		if (around->root == root && around->number == replacement->number)
			around->expr = put_mutator(unconstify(Node *, around->expr), replacement);
	}
	planning->replaces_columns |= IsA(normalized, Var);
	planning->replacements = lappend(planning->replacements, replacement);
}

/* Each of a thousand partitions has its own: the relation tells most of them apart. */
static Node *
replace(const PlannerInfo *root, Node *node)
{
	const List *replacements = planning_current()->replacements;
	int			number = 0;
	ListCell   *lc;

	foreach(lc, replacements)
	{
		const Replacement *replacement = lfirst(lc);

		/* walkers do not know every kind of node that mutators do */
		if (nodeTag(replacement->expr) != nodeTag(node))
			continue;
		if (number == 0 && !first_number_walker(node, &number))
			return node;
		if (replacement->number == number && replacement->root == root && equal(replacement->expr, node))
			return copyObject((Node *) replacement->var);
	}
	return node;
}

static Node *
normalize_mutator(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;

		if (var->varlevelsup != 0)
			return copyObject(node);
		return (Node *) makeVar(relation_number_of(context, var->varno), var->varattno, var->vartype,
								var->vartypmod, var->varcollid, 0);
	}
	if (IsA(node, PlaceHolderVar) && ((PlaceHolderVar *) node)->phlevelsup == 0)
	{
		const PlaceHolderVar *given = (PlaceHolderVar *) node;
		const PlaceHolderInfo *info = relation_numbers_find_placeholder(context, given);
		NamedArgExpr *placeholder = makeNode(NamedArgExpr);

		/* Always the same expression, so that equal() finds it by its number, which no other level has. */
		placeholder->arg = (Expr *) normalize_mutator((Node *) (info != NULL ? info->ph_var : given)->phexpr,
													  context);
		placeholder->name = "placeholder";
		placeholder->argnumber = given->phid;
		placeholder->location = -1;
		return (Node *) placeholder;
	}
	return replace(context, expression_tree_mutator(node, normalize_mutator, context));
}

/* Of columns, those that no expression around them has hidden. */
static Node *
column_mutator(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	return IsA(node, Var) ? replace(context, node) : expression_tree_mutator(node, column_mutator, context);
}

Node *
relation_numbers_normalize(PlannerInfo *root, Node *node)
{
	CHECK_FOR_INTERRUPTS();
	node = normalize_mutator(node, root);
	return planning_current()->replaces_columns ? column_mutator(node, root) : node;
}

static bool
numbers_walker(Node *node, void *context)
{
	Bitmapset **numbers = context;

	if (node == NULL)
		return false;
	if (IsA(node, Var) && ((Var *) node)->varlevelsup == 0)
		*numbers = bms_add_member(*numbers, ((Var *) node)->varno);
	return expression_tree_walker(node, numbers_walker, context);
}

Bitmapset *
names_add_numbers(Bitmapset *numbers, List *exprs)
{
	(void) numbers_walker((Node *) exprs, &numbers);
	return numbers;
}

List *
relation_numbers_to_list(const Bitmapset *numbers)
{
	List	   *names = NIL;
	int			number = -1;

	while ((number = bms_next_member(numbers, number)) >= 0)
	{
		RangeTblEntry *rte = list_nth(planning_current()->names, number - 1);
		bool		is_table = rte->rtekind == RTE_RELATION;

		names = lappend(names, list_make4(makeInteger(number), makeString(pstrdup(rte->eref->aliasname)),
										  makeInteger((int) (is_table ? rte->relid : InvalidOid)),
										  is_table ? NIL : copyObject(rte->eref->colnames)));
	}
	return names;
}

const char *
relation_number_alias(List *names, Index number)
{
	ListCell   *lc;

	foreach(lc, names)
	{
		List	   *name = lfirst(lc);

		if (intVal(linitial(name)) == (int) number)
			return strVal(lsecond(name));
	}
	elog(ERROR, "relation %u has no name", number);
}

List *
relation_numbers_deparse_context(List *names)
{
	PlannedStmt *stmt = makeNode(PlannedStmt);
	List	   *aliases = NIL;
	RangeTblEntry *unused = makeNode(RangeTblEntry);
	ListCell   *lc;

	unused->rtekind = RTE_RESULT;
	unused->eref = makeAlias("", NIL);
	foreach(lc, names)
	{
		List	   *name = lfirst(lc);
		RangeTblEntry *rte = makeNode(RangeTblEntry);

		rte->relid = (Oid) intVal(lthird(name));
		rte->rtekind = OidIsValid(rte->relid) ? RTE_RELATION : RTE_CTE;
		rte->relkind = RELKIND_RELATION;
		rte->eref = makeAlias(strVal(lsecond(name)), lfourth(name));
		/* Vars speak of places in rtable: numbers that the node does not use are filled up. */
		while (list_length(aliases) < intVal(linitial(name)) - 1)
		{
			stmt->rtable = lappend(stmt->rtable, unused);
			aliases = lappend(aliases, "");
		}
		stmt->rtable = lappend(stmt->rtable, rte);
		aliases = lappend(aliases, pstrdup(strVal(lsecond(name))));
	}
	return deparse_context_for_plan_tree(stmt, aliases);
}
