/*-------------------------------------------------------------------------
 *
 * errors.c
 *	  Stacks of errors: captured when an error is raised, reported when it is
 *	  logged.
 *
 * emit_log_hook is called after the stack was unwound, so the stack is taken
 * in an error context callback, which errfinish() calls before.  It stands
 * below all others.  The main loops empty the list of callbacks after an error
 * and then log the error: the hook puts ours back.
 *
 * What is captured stays in this process.  An error that is caught never
 * reaches the hook, and costs no more than this.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "errors.h"
#include "modules.h"
#include "settings.h"
#include "shared.h"
#include "stack.h"

#define CAPTURES			8
#define NAME_BYTES			64
#define MODULES_MAX			256

/* The frames of stack_capture() and capture_callback() come first. */
#define ERRFINISH_FRAME		2
#define SITE_FRAME			3

/* Where a frame returns to. */
typedef struct Return
{
	const uintptr_t *slot;		/* the return address; the caller's frame pointer stands before it */
	uintptr_t	pc;
	uintptr_t	frame_pointer;
	uintptr_t	pointer_mask;	/* 0: something else stands before it */
} Return;

typedef struct Capture
{
	RawStack	stack;
	Return		returns[STACK_FRAMES_MAX];	/* from that of capture_callback() on */
	int			return_count;
	uint64		last_used;
	bool		awaits_report;	/* raised, neither logged nor seen to be forgotten */
	int			sqlerrcode;		/* of the last error */
	uint64		hash;			/* 0: not computed */
	bool		logged;			/* without shared memory: by this process */
	bool		function_wanted;
	char		filename[NAME_BYTES];
	int			lineno;
} Capture;

static Capture captures[CAPTURES];
static uint64 captures_generation = 0;
static uint64 captures_used = 0;

static Module modules[MODULES_MAX];
static int	module_count = 0;

static MemoryContext capture_context = NULL;
static emit_log_hook_type previous_emit_log_hook = NULL;

static void capture_callback(void *arg);
static ErrorContextCallback bottom_callback = {.callback = capture_callback};

/* ---------------------------------------------------------------- capture  */

/*
 * Is this the stack of the capture?  A loop that raises and catches errors
 * has the same one each time, and to compare it costs a hundredth of unwinding.
 * Where a return address is found unchanged in its place, the frame above
 * is the same, and its size as well, but for frames of varying size, which hold
 * a frame pointer: that is compared too.  Only where return addresses stand
 * just below the caller's stack pointer, which is on x86-64.
 */
static inline bool
same_stack(const Capture *capture, uintptr_t frame_address)
{
	const Return *end = capture->returns + capture->return_count;

	/* As __builtin_frame_address(0) is where this frame's saved frame pointer stands. */
	if (capture->return_count == 0 || (uintptr_t) capture->returns[0].slot != frame_address + sizeof(uintptr_t))
		return false;
	for (const Return *each = capture->returns; each < end; each++)
	{
		if (((each->slot[0] ^ each->pc) | ((each->slot[-1] ^ each->frame_pointer) & each->pointer_mask)) != 0)
			return false;
	}
	return true;
}

static void
note_returns(Capture *capture)
{
#ifdef __x86_64__
	const RawStack *stack = &capture->stack;

	for (int i = ERRFINISH_FRAME; i < stack->count; i++)
	{
		Return	   *noted = &capture->returns[capture->return_count++];

		noted->slot = (const uintptr_t *) stack->cfa[i] - 1;
		noted->pc = stack->pc[i];
		noted->frame_pointer = stack->frame_pointer[i];
		noted->pointer_mask = noted->slot[-1] == noted->frame_pointer ? ~(uintptr_t) 0 : 0;
	}
#endif
}

static Capture *
find_capture(uintptr_t frame_address)
{
	Capture    *oldest = &captures[0];

	for (int i = 0; i < CAPTURES; i++)
	{
		if (same_stack(&captures[i], frame_address))
			return &captures[i];
		if (captures[i].last_used < oldest->last_used)
			oldest = &captures[i];
	}
	oldest->stack.count = oldest->return_count = 0;
	return oldest;
}

static void
forget_captures(void)
{
	for (int i = 0; i < CAPTURES; i++)
	{
		captures[i].stack.count = captures[i].return_count = 0;
		captures[i].last_used = 0;
		captures[i].awaits_report = false;
	}
	captures_generation = settings_generation;
}

/* Which ereport() it is, to know the error again when it is logged. */
static void
identify_site(Capture *capture)
{
	MemoryContext old_context = MemoryContextSwitchTo(capture_context);
	ErrorData  *error = CopyErrorData();

	strlcpy(capture->filename, error->filename ? error->filename : "", NAME_BYTES);
	capture->lineno = error->lineno;
	capture->function_wanted = error->funcname && settings_want_function(error->funcname);
	MemoryContextSwitchTo(old_context);
	MemoryContextReset(capture_context);
}

/*
 * In a critical section an error becomes a PANIC, which crash.c reports; there
 * no memory may be allocated either.
 */
static pg_noinline void
capture_callback(void *arg)
{
	int			sqlerrcode;
	bool		wanted;
	Capture    *capture;

	if (settings_want_none() || CritSectionCount > 0)
		return;
	sqlerrcode = geterrcode();
	wanted = settings_want_sqlstate(sqlerrcode);
	if (!wanted && !settings_want_functions())
		return;
	if (captures_generation != settings_generation)
		forget_captures();
	capture = find_capture((uintptr_t) __builtin_frame_address(0));
	if (capture->stack.count == 0)
	{
		stack_capture(&capture->stack);
		note_returns(capture);
		identify_site(capture);
		capture->hash = 0;
		capture->logged = false;
	}
	capture->sqlerrcode = sqlerrcode;
	capture->last_used = ++captures_used;
	capture->awaits_report = wanted || capture->function_wanted;
}

/* Appends our callback to the list. */
static void
install_callback(void)
{
	ErrorContextCallback **end = &error_context_stack;

	while (*end != NULL && *end != &bottom_callback)
		end = &(*end)->previous;
	*end = &bottom_callback;
}

/* ---------------------------------------------------------------- report  */

/*
 * The latest capture of this ereport().  After others were raised and caught
 * in between, as a handler of PL/pgSQL may do, it is still there.
 */
static Capture *
find_reported(const ErrorData *error)
{
	Capture    *found = NULL;

	for (int i = 0; i < CAPTURES; i++)
	{
		Capture    *capture = &captures[i];

		if (capture->awaits_report && capture->sqlerrcode == error->sqlerrcode &&
			capture->lineno == error->lineno && error->filename &&
			strncmp(capture->filename, error->filename, NAME_BYTES - 1) == 0 &&
			(found == NULL || capture->last_used > found->last_used))
			found = capture;
	}
	for (int i = 0; found && i < CAPTURES; i++)
	{
		if (captures[i].last_used <= found->last_used)
			captures[i].awaits_report = false;
	}
	return found;
}

/* PostgreSQL does not unload libraries: a segment once seen stays where it is. */
static void
refresh_modules(const RawStack *stack)
{
	for (int i = 0; i < stack->count; i++)
	{
		if (modules_find(modules, module_count, stack->pc[i]) == NULL)
		{
			module_count = modules_read(modules, MODULES_MAX, NULL, 0);
			return;
		}
	}
}

static uint64
hash_stack(const RawStack *stack)
{
	uint64		hash = 1;

	for (int i = SITE_FRAME; i < stack->count; i++)
	{
		const Module *module = modules_find(modules, module_count, stack->pc[i]);

		if (module == NULL)
			continue;
		hash = hash_combine64(hash, hash_bytes_extended((const unsigned char *) module->path,
														strlen(module->path), 0));
		/* Code compiled at run time is elsewhere each time. */
		if (module->path[0] == '/')
			hash = hash_combine64(hash, stack->pc[i] - module->start + module->offset);
	}
	return hash == 0 ? 1 : hash;
}

/* From the ereport() on. */
static void
write_stack(const RawStack *captured, char *buffer)
{
	static RawStack stack;
	Writer		writer;

	stack.count = captured->count - SITE_FRAME;
	memcpy(stack.pc, captured->pc + SITE_FRAME, stack.count * sizeof(stack.pc[0]));
	memcpy(stack.exact, captured->exact + SITE_FRAME, stack.count * sizeof(stack.exact[0]));
	writer_init(&writer, buffer, STACK_TEXT_BYTES - 1, -1);
	stack_write(&stack, modules, module_count, &writer);
	buffer[writer.used_bytes] = '\0';
}

/* The lock is held.  An entry that must make room is the one unseen for longest. */
static StackEntry *
find_entry(int sqlerrcode, uint64 hash, bool *found)
{
	StackEntry *replaced = NULL;

	for (int i = 0; i < backtrace_shared->entry_count; i++)
	{
		StackEntry *entry = &backtrace_shared->entries[i];

		*found = entry->count > 0 && entry->hash == hash && entry->sqlerrcode == sqlerrcode;
		if (*found)
			return entry;
		if (entry->pending && entry->count > 0)
			continue;
		if (replaced == NULL || (replaced->count > 0 &&
								 (entry->count == 0 || entry->last_at < replaced->last_at)))
			replaced = entry;
	}
	return replaced;
}

/*
 * Returns whether the stack is known.  Without text an unknown one is not entered:
 * the caller makes its text then, outside of the lock, and comes again.
 */
static bool
count_error(const Capture *capture, const char *text)
{
	TimestampTz now = GetCurrentTimestamp();
	StackEntry *entry;
	bool		found;

	LWLockAcquire(backtrace_shared->lock, LW_EXCLUSIVE);
	entry = find_entry(capture->sqlerrcode, capture->hash, &found);
	if (found)
	{
		entry->count++;
		entry->last_at = now;
	}
	else if (entry != NULL && text != NULL)
	{
		entry->count = 1;
		entry->sqlerrcode = capture->sqlerrcode;
		entry->hash = capture->hash;
		entry->first_at = entry->last_at = now;
		entry->first_pid = MyProcPid;
		entry->first_type = MyBackendType;
		entry->pending = true;
		strlcpy(entry->text, text, STACK_TEXT_BYTES);
	}
	LWLockRelease(backtrace_shared->lock);
	return found;
}

/* By this process.  Without frame pointers same_stack() may not know a stack again; its hash does. */
static bool
was_logged(uint64 hash)
{
	for (int i = 0; i < CAPTURES; i++)
	{
		if (captures[i].logged && captures[i].hash == hash && captures[i].stack.count > 0)
			return true;
	}
	return false;
}

/* Formatting a stack takes longer than others should wait for the lock. */
static void
report_error(Capture *capture)
{
	static char text[STACK_TEXT_BYTES];

	refresh_modules(&capture->stack);
	if (capture->hash == 0)
		capture->hash = hash_stack(&capture->stack);
	if (backtrace_shared == NULL)
	{
		bool		known = was_logged(capture->hash);

		capture->logged = true;
		if (known)
			return;
		write_stack(&capture->stack, text);
		ereport(LOG_SERVER_ONLY,
				(errmsg("backtrace of error %s, stack %016llx", unpack_sql_state(capture->sqlerrcode),
						(unsigned long long) capture->hash),
				 errdetail_internal("%s", text),
				 errhint("The program penumbra-symbolize turns it into names and lines."),
				 errhidestmt(true), errhidecontext(true)));
	}
	else if (MyProc != NULL && !count_error(capture, NULL))
	{
		write_stack(&capture->stack, text);
		count_error(capture, text);
		shared_wake_worker();
	}
}

static void
backtrace_emit_log(ErrorData *error)
{
	static bool active = false;

	if (previous_emit_log_hook)
		previous_emit_log_hook(error);
	install_callback();
	if (!active && (error->elevel == ERROR || error->elevel == FATAL) && !settings_want_none())
	{
		Capture    *capture = find_reported(error);

		if (capture != NULL && capture->stack.count > SITE_FRAME)
		{
			active = true;
			report_error(capture);
			active = false;
		}
	}
}

void
errors_install_hooks(void)
{
	capture_context = AllocSetContextCreate(TopMemoryContext, "penumbra_backtrace capture",
											ALLOCSET_SMALL_SIZES);
	previous_emit_log_hook = emit_log_hook;
	emit_log_hook = backtrace_emit_log;
	install_callback();
}
