/* A fake command of a host, run by its server (server.py): what a start of Python would cost is most of its time.
 * As PYTHON it stands for the host's Python, for a program on its stdin (warm_python.py).
 *
 * The server runs it with our arguments, folder, standard streams, user and mount namespace. Where there is none, Python
 * starts as ever.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKET "/run/lab-fakes/socket"
#define PYTHON "lab-python3"
#define PYTHON_SOCKET "/run/lab-fakes/python"
#define SCRIPTS "/usr/lib/lab-fakes/"
#define MOST (1 << 17) /* bytes of folder and arguments */

/* What the server needs: the folder and all words, each with its 0; 0 if that is too much. */
static size_t words(char *message, int count, char **argument)
{
	size_t size;

	if (!getcwd(message, PATH_MAX))
		return 0;
	size = strlen(message) + 1;
	for (int i = 0; i < count; i++) {
		const char *word = i ? argument[i] : program_invocation_short_name;
		size_t more = strlen(word) + 1;

		if (size + more > MOST)
			return 0;
		memcpy(message + size, word, more);
		size += more;
	}
	return size;
}

/* The exit code; -1 if the server did not take it. */
static int ask(const char *socket_path, int count, char **argument)
{
	static char message[MOST];
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int streams[3] = { 0, 1, 2 };
	union {
		char space[CMSG_SPACE(sizeof(streams))];
		struct cmsghdr aligned;
	} control = { 0 };
	size_t size = words(message, count, argument);
	struct iovec data = { message, size };
	struct msghdr header = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
	struct cmsghdr *first = CMSG_FIRSTHDR(&header);
	unsigned char code;
	int server = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), wide = 4 * MOST;

	strcpy(address.sun_path, socket_path);
	first->cmsg_level = SOL_SOCKET;
	first->cmsg_type = SCM_RIGHTS;
	first->cmsg_len = CMSG_LEN(sizeof(streams));
	memcpy(CMSG_DATA(first), streams, sizeof(streams));
	setsockopt(server, SOL_SOCKET, SO_SNDBUF, &wide, sizeof(wide));
	if (!size || connect(server, (struct sockaddr *)&address, sizeof(address)) || sendmsg(server, &header, MSG_NOSIGNAL) < 0)
		return -1;
	return read(server, &code, 1) == 1 ? code : 1;
}

int main(int count, char **argument)
{
	char script[PATH_MAX];
	int python = !strcmp(program_invocation_short_name, PYTHON);
	int code = python && count > 1 ? -1 : ask(python ? PYTHON_SOCKET : SOCKET, count, argument);

	if (code >= 0)
		return code;
	snprintf(script, sizeof(script), SCRIPTS "%s", program_invocation_short_name);
	execv(script, argument);
	perror(script);
	return 127;
}
