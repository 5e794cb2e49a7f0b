/* Loaded into user-mode-linux: it writes as many register bytes as its kernel knew (AVX-512), and where the CPU has more
 * (AMX) the host wants all of them. Those that it does not know stay as they are. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

static char all[1 << 16]; /* its stacks are small, and one thread traces */

long ptrace(enum __ptrace_request request, ...)
{
	static long (*next)(enum __ptrace_request, ...);
	struct iovec whole = {all, sizeof all}, *known;
	void *kind, *data;
	va_list more;
	long done;
	int pid;

	va_start(more, request);
	pid = va_arg(more, int);
	kind = va_arg(more, void *);
	data = va_arg(more, void *);
	va_end(more);
	if (!next)
		next = dlsym(RTLD_NEXT, "ptrace");
	done = next(request, pid, kind, data);
	if (!done || request != PTRACE_SETREGSET || (long)kind != NT_X86_XSTATE)
		return done;
	known = data;
	if (next(PTRACE_GETREGSET, pid, kind, &whole) || known->iov_len > whole.iov_len)
		return -1;
	memcpy(all, known->iov_base, known->iov_len);
	return next(PTRACE_SETREGSET, pid, kind, &whole);
}
