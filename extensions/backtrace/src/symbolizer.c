/*-------------------------------------------------------------------------
 *
 * symbolizer.c
 *	  penumbra-symbolize as a child process.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "miscadmin.h"
#include "portability/instr_time.h"
#include "postmaster/interrupt.h"

#include "settings.h"
#include "symbolizer.h"

/* Between looks at interrupts. */
#define WAIT_MS			100

#define END_LOOKS		100
#define END_LOOK_US		10000L

const char *
symbolizer_path(void)
{
	static char path[MAXPGPATH];

	if (backtrace_symbolizer[0] != '\0')
		return backtrace_symbolizer;
	if (path[0] == '\0')
	{
		strlcpy(path, my_exec_path, sizeof(path));
		get_parent_directory(path);
		strlcat(path, "/penumbra-symbolize", sizeof(path));
	}
	return path;
}

/* The child gets the pipes' ends, and signals as any new program has them. */
static int
spawn_child(pid_t *pid, int in_fd, int out_fd, bool with_errors, char *const *arguments)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t	signals;
	int			result;

	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attributes);
	posix_spawn_file_actions_adddup2(&files, in_fd, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, out_fd, STDOUT_FILENO);
	if (with_errors)
		posix_spawn_file_actions_adddup2(&files, out_fd, STDERR_FILENO);
	else
		posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
	sigfillset(&signals);
	posix_spawnattr_setsigdefault(&attributes, &signals);
	sigemptyset(&signals);
	posix_spawnattr_setsigmask(&attributes, &signals);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
							 POSIX_SPAWN_SETPGROUP);
	result = posix_spawn(pid, arguments[0], &files, &attributes, arguments, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	return result;
}

/*
 * False, with errno, if it cannot be executed.  Without an option: the filter;
 * with one, error messages come as the answer.
 */
bool
symbolizer_start(Symbolizer *symbolizer, const char *option, const char *argument)
{
	char	   *arguments[] = {unconstify(char *, symbolizer_path()), unconstify(char *, option),
	unconstify(char *, argument), NULL};
	int			in[2];
	int			out[2];
	int			result;

	symbolizer->pid = 0;
	symbolizer->to_fd = symbolizer->from_fd = -1;
	symbolizer->ended = false;
	if (pipe2(in, O_CLOEXEC) != 0)
		return false;
	if (pipe2(out, O_CLOEXEC) != 0)
	{
		close(in[0]);
		close(in[1]);
		return false;
	}
	result = spawn_child(&symbolizer->pid, in[0], out[1], option != NULL, arguments);
	close(in[0]);
	close(out[1]);
	symbolizer->to_fd = in[1];
	symbolizer->from_fd = out[0];
	fcntl(in[1], F_SETFL, O_NONBLOCK);
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	if (result != 0)
	{
		symbolizer->pid = 0;
		symbolizer_stop(symbolizer);
		errno = result;
		return false;
	}
	return true;
}

static bool
wait_for(int fd, short events, instr_time start, int timeout_ms)
{
	for (;;)
	{
		struct pollfd poll_fd = {.fd = fd, .events = events};
		instr_time	elapsed;

		INSTR_TIME_SET_CURRENT(elapsed);
		INSTR_TIME_SUBTRACT(elapsed, start);
		CHECK_FOR_INTERRUPTS();
		if (INSTR_TIME_GET_MILLISEC(elapsed) > timeout_ms || ShutdownRequestPending)
			return false;
		if (poll(&poll_fd, 1, WAIT_MS) > 0)
			return true;
	}
}

static bool
write_all(Symbolizer *symbolizer, const char *text, instr_time start, int timeout_ms)
{
	size_t		length = strlen(text);

	while (length > 0)
	{
		/* SIGPIPE is ignored in server processes. */
		ssize_t		written = write(symbolizer->to_fd, text, length);

		if (written > 0)
		{
			text += written;
			length -= written;
		}
		else if ((errno != EAGAIN && errno != EINTR) ||
				 !wait_for(symbolizer->to_fd, POLLOUT, start, timeout_ms))
			return false;
	}
	return true;
}

/* What does not fit is read and dropped; a line that is cut is dropped whole. */
static bool
read_until(Symbolizer *symbolizer, bool one_stack, char *answer, size_t size_bytes, instr_time start,
		   int timeout_ms)
{
	size_t		used = 0;
	char		last[2] = {'\n', '\n'};	/* an empty stack is an empty line */
	bool		complete = false;

	while (!complete)
	{
		char		buffer[4096];
		ssize_t		got = read(symbolizer->from_fd, buffer, sizeof(buffer));

		if (got < 0 && (errno == EAGAIN || errno == EINTR))
		{
			if (!wait_for(symbolizer->from_fd, POLLIN, start, timeout_ms))
				break;
			continue;
		}
		if (got <= 0)
		{
			symbolizer->ended = true;
			complete = !one_stack && got == 0;
			break;
		}
		for (ssize_t i = 0; i < got; i++)
		{
			last[0] = last[1];
			last[1] = buffer[i];
			if (used < size_bytes - 1)
				answer[used++] = buffer[i];
		}
		complete = one_stack && last[0] == '\n' && last[1] == '\n';
	}
	if (used == size_bytes - 1)
	{
		while (used > 0 && answer[used - 1] != '\n')
			used--;
	}
	while (used > 0 && answer[used - 1] == '\n')
		used--;
	answer[used] = '\0';
	return complete;
}

/* One raw stack to the filter.  After false it is of no more use: stop it. */
bool
symbolizer_ask(Symbolizer *symbolizer, const char *raw, char *answer, size_t size_bytes, int timeout_ms)
{
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	return write_all(symbolizer, raw, start, timeout_ms) &&
		read_until(symbolizer, true, answer, size_bytes, start, timeout_ms);
}

bool
symbolizer_read_all(Symbolizer *symbolizer, char *answer, size_t size_bytes, int timeout_ms)
{
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	return read_until(symbolizer, false, answer, size_bytes, start, timeout_ms);
}

/* One that ended its output has a moment to end itself. */
static int
wait_for_end(Symbolizer *symbolizer)
{
	int			status = 0;
	pid_t		ended = 0;

	for (int i = 0; symbolizer->ended && ended == 0 && i < END_LOOKS; i++)
	{
		ended = waitpid(symbolizer->pid, &status, WNOHANG);
		if (ended == 0)
			pg_usleep(END_LOOK_US);
	}
	if (ended == 0)
	{
		kill(-symbolizer->pid, SIGKILL);
		while (waitpid(symbolizer->pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	return status;
}

/* Its exit status as of waitpid(), 0 if it never ran.  Unless it ended its output, it is killed. */
int
symbolizer_stop(Symbolizer *symbolizer)
{
	int			status = 0;

	if (symbolizer->to_fd >= 0)
		close(symbolizer->to_fd);
	if (symbolizer->from_fd >= 0)
		close(symbolizer->from_fd);
	symbolizer->to_fd = symbolizer->from_fd = -1;
	if (symbolizer->pid > 0)
		status = wait_for_end(symbolizer);
	symbolizer->pid = 0;
	return status;
}
