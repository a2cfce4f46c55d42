/*-------------------------------------------------------------------------
 *
 * settings.c
 *	  Settings, and which errors they ask for.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/varlena.h"

#include "pg_compat.h"
#include "settings.h"

bool		backtrace_crash_reports = true;
bool		backtrace_crash_query = true;
char	   *backtrace_crash_directory = "pg_crash";
char	   *backtrace_symbolizer = "";
int			backtrace_max_stacks = 200;
uint64		settings_generation = 0;

static char *on_error = "internal";
static char *functions = "";

/* What on_error means; one piece of memory, because it is a setting's "extra". */
typedef struct Choice
{
	bool		all;
	int			count;
	struct
	{
		int			sqlerrcode;
		bool		whole_class;
	}			item[FLEXIBLE_ARRAY_MEMBER];
} Choice;

static const Choice *choice = NULL;

/* Names ended by '\0', the list by an empty one. */
static const char *function_names = "";

static bool
is_sqlstate(const char *text, size_t length)
{
	return strlen(text) == length && strspn(text, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == length;
}

/* A class of SQLSTATEs is stored as its two characters and "000". */
static bool
add_to_choice(Choice *parsed, const char *word)
{
	char		state[6] = "00000";
	bool		whole_class = false;

	if (pg_strcasecmp(word, "all") == 0)
	{
		parsed->all = true;
		return true;
	}
	if (pg_strcasecmp(word, "off") == 0)
		return true;
	if (pg_strcasecmp(word, "internal") == 0)
		word = "XX";
	if (is_sqlstate(word, 2))
		whole_class = true;
	else if (!is_sqlstate(word, 5))
	{
		GUC_check_errdetail("\"%s\" is neither off, internal, all, an SQLSTATE nor a class of SQLSTATEs.", word);
		return false;
	}
	memcpy(state, word, strlen(word));
	parsed->item[parsed->count].sqlerrcode =
		MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4]);
	parsed->item[parsed->count++].whole_class = whole_class;
	return true;
}

static bool
check_on_error(char **value, void **extra, GucSource source)
{
	char	   *copy = pstrdup(*value);
	List	   *words;
	ListCell   *cell;
	Choice	   *parsed;
	bool		valid = true;

	for (char *c = copy; *c; c++)
	{
		/* SplitGUCList() takes quotes for quoted names, and users write a list of literals. */
		if (*c == '\'')
			*c = ' ';
	}
	if (!SplitGUCList(copy, ',', &words))
	{
		GUC_check_errdetail("List syntax is invalid.");
		return false;
	}
	parsed = compat_guc_malloc(offsetof(Choice, item) + list_length(words) * sizeof(parsed->item[0]));
	if (parsed == NULL)
		return false;
	parsed->all = false;
	parsed->count = 0;
	foreach(cell, words)
		valid = valid && add_to_choice(parsed, lfirst(cell));
	list_free(words);
	pfree(copy);
	*extra = parsed;
	return valid;
}

static void
assign_on_error(const char *value, void *extra)
{
	choice = extra;
	settings_generation++;
}

/*
 * *extra gets the names, each with its zero, and an empty one at the end. Two bytes
 * more than the setting are enough, since each comma becomes a zero.
 */
static bool
check_functions(char **value, void **extra, GucSource source)
{
	char	   *copy = pstrdup(*value);
	List	   *words;
	ListCell   *cell;
	char	   *names;

	if (!SplitGUCList(copy, ',', &words))
	{
		GUC_check_errdetail("List syntax is invalid.");
		return false;
	}
	names = compat_guc_malloc(strlen(*value) + 2);
	if (names == NULL)
		return false;
	*extra = names;
	foreach(cell, words)
	{
		strcpy(names, lfirst(cell));
		names += strlen(names) + 1;
	}
	*names = '\0';
	list_free(words);
	pfree(copy);
	return true;
}

static void
assign_functions(const char *value, void *extra)
{
	function_names = extra;
	settings_generation++;
}

void
settings_define(void)
{
	DefineCustomStringVariable("penumbra_backtrace.on_error",
							   "Which errors get a backtrace in the server log.",
							   "off, internal (class XX), all, or a list of SQLSTATEs and of classes of them.",
							   &on_error, "internal", PGC_SUSET, GUC_LIST_INPUT,
							   check_on_error, assign_on_error, NULL);
	DefineCustomStringVariable("penumbra_backtrace.functions",
							   "C functions whose errors get a backtrace, whatever their SQLSTATE is.",
							   NULL, &functions, "", PGC_SUSET, GUC_LIST_INPUT,
							   check_functions, assign_functions, NULL);
	DefineCustomBoolVariable("penumbra_backtrace.crash_reports",
							 "Writes a file about each process that crashes.",
							 NULL, &backtrace_crash_reports, true, PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("penumbra_backtrace.crash_query",
							 "Writes the running query into crash files.",
							 NULL, &backtrace_crash_query, true, PGC_SIGHUP, 0, NULL, NULL, NULL);
}

/* At server start only; a session that loads the library has the defaults. */
void
settings_define_at_start(void)
{
	DefineCustomStringVariable("penumbra_backtrace.symbolizer",
							   "Program that turns addresses into names and lines.",
							   "Empty: penumbra-symbolize in the directory of the server's executable.",
							   &backtrace_symbolizer, "", PGC_POSTMASTER, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("penumbra_backtrace.crash_directory",
							   "Directory of the files about crashes.",
							   "Relative to the data directory.",
							   &backtrace_crash_directory, "pg_crash", PGC_POSTMASTER, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("penumbra_backtrace.max_stacks",
							"Number of different stacks of errors that are remembered.",
							NULL, &backtrace_max_stacks, 200, 10, 10000, PGC_POSTMASTER, 0, NULL, NULL, NULL);
	MarkGUCPrefixReserved("penumbra_backtrace");
}

bool
settings_want_none(void)
{
	return !choice->all && choice->count == 0 && *function_names == '\0';
}

bool
settings_want_functions(void)
{
	return *function_names != '\0';
}

/* "all" leaves out what is not an error: success, warnings, no data. */
bool
settings_want_sqlstate(int sqlerrcode)
{
	int			class = ERRCODE_TO_CATEGORY(sqlerrcode);

	for (int i = 0; i < choice->count; i++)
	{
		if (choice->item[i].sqlerrcode == (choice->item[i].whole_class ? class : sqlerrcode))
			return true;
	}
	return choice->all && class != MAKE_SQLSTATE('0', '0', '0', '0', '0') &&
		class != MAKE_SQLSTATE('0', '1', '0', '0', '0') && class != MAKE_SQLSTATE('0', '2', '0', '0', '0');
}

bool
settings_want_function(const char *name)
{
	for (const char *each = function_names; *each; each += strlen(each) + 1)
	{
		if (strcmp(each, name) == 0)
			return true;
	}
	return false;
}
