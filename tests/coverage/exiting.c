/* Preloaded: a process that ends by _exit, as forked ones do, writes down what it counted, for each library of its own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int dump(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size, (void)unused;
	void *object = dlopen(info->dlpi_name[0] ? info->dlpi_name : NULL, RTLD_LAZY | RTLD_NOLOAD);
	void (*counted)(void) = object ? (void (*)(void))dlsym(object, "__gcov_dump") : NULL;
	if (counted)
		counted();
	return 0;
}

void _exit(int status)
{
	dl_iterate_phdr(dump, NULL);
	syscall(SYS_exit_group, status);
	abort();
}

void _Exit(int status) __attribute__((alias("_exit")));
