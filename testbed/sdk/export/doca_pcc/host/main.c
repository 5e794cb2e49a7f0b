/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts the program of device/ onto the DPA of one device, says what state it is in, and takes it off again.
 *
 *	testbed-pcc -d DEVICE [-t UNITS]
 *
 * SIGINT and SIGTERM end it cleanly, a second one changes nothing. Never SIGKILL it: what is on the card then stays
 * there, and the next instance is kept in standby. Exit codes: 0 asked to end, 1 could not start or lost the device,
 * 2 bad arguments, 3 the card deactivated the program or reports an error.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doca_dev.h>
#include <doca_error.h>
#include <doca_pcc.h>

enum { ENDED = 0, FAILED = 1, BAD_ARGUMENTS = 2, NOT_RUNNING = 3 };
enum { MOST_UNITS = 256, NAME_SIZE = 64, LOOK_SECONDS = 1 };

/* What dpacc makes of device/; its name is that of build_device.sh's --app-name. */
extern struct doca_pcc_app *testbed_pcc_app;

static volatile sig_atomic_t asked_to_end;

static void end(int number)
{
	(void)number;
	asked_to_end = 1;
}

static bool failed(doca_error_t result, const char *what)
{
	if (result != DOCA_SUCCESS)
		fprintf(stderr, "testbed-pcc: %s: %s\n", what, doca_error_get_descr(result));
	return result != DOCA_SUCCESS;
}

/* "176-187,240" to numbers; how many, or 0 if it is not such a list. */
static uint32_t units_of(const char *text, uint32_t units[MOST_UNITS])
{
	uint32_t count = 0;

	while (*text) {
		char *rest;
		unsigned long first = strtoul(text, &rest, 10), last = first;

		if (rest == text)
			return 0;
		if (*rest == '-') {
			text = rest + 1;
			last = strtoul(text, &rest, 10);
			if (rest == text)
				return 0;
		}
		for (; first <= last; first++) {
			if (count == MOST_UNITS || first > UINT32_MAX)
				return 0;
			units[count++] = (uint32_t)first;
		}
		if (*rest && *rest != ',')
			return 0;
		text = *rest ? rest + 1 : rest;
	}
	return count;
}

/* The device of that name, or NULL, with what is wrong on stderr. */
static struct doca_dev *opened(const char *device)
{
	struct doca_devinfo **list;
	struct doca_dev *found = NULL;
	bool there = false;
	uint32_t count;

	if (failed(doca_devinfo_create_list(&list, &count), "the devices cannot be listed"))
		return NULL;
	for (uint32_t i = 0; i < count && !there; i++) {
		char name[NAME_SIZE] = "";
		uint8_t supported = 0;

		if (doca_devinfo_get_ibdev_name(list[i], name, sizeof(name)) != DOCA_SUCCESS || strcmp(name, device))
			continue;
		there = true;
		if (doca_devinfo_get_is_pcc_supported(list[i], &supported) != DOCA_SUCCESS || !supported)
			fprintf(stderr, "testbed-pcc: %s has no programmable congestion control; a BlueField-3 with "
				"an active USER_PROGRAMMABLE_CC=1 has\n", device);
		else if (failed(doca_dev_open(list[i], &found), device))
			found = NULL;
	}
	if (!there)
		fprintf(stderr, "testbed-pcc: there is no device %s\n", device);
	doca_devinfo_destroy_list(list);
	return found;
}

static bool set_up(struct doca_pcc *pcc, uint32_t *units, uint32_t count)
{
	uint32_t least, most;

	if (failed(doca_pcc_get_min_num_threads(pcc, &least), "least number of threads") ||
	    failed(doca_pcc_get_max_num_threads(pcc, &most), "greatest number of threads"))
		return false;
	if (count && (count < least || count > most)) {
		fprintf(stderr, "testbed-pcc: -t names %u execution units, the card takes %u to %u\n", count, least, most);
		return false;
	}
	if (failed(doca_pcc_set_app(pcc, testbed_pcc_app), "the program does not fit"))
		return false;
	if (count && failed(doca_pcc_set_thread_affinity(pcc, count, units), "the execution units of -t"))
		return false;
	/* The other NIC's hardware answers probes; no program runs there. */
	return !failed(doca_pcc_set_ccmad_probe_packet_format(pcc, 0), "probes as CCMAD") &&
	       !failed(doca_pcc_rp_set_ccmad_remote_sw_handler(pcc, 0, false), "probes answered by hardware");
}

/* Until it is asked to end, or the card says that it is over; every change of state is one line. */
static int watch(struct doca_pcc *pcc)
{
	static const char *const names[] = {"Active", "Standby", "Deactivated", "Error"};
	doca_pcc_process_state_t state, before = (doca_pcc_process_state_t)-1;

	while (!asked_to_end) {
		if (failed(doca_pcc_get_process_state(pcc, &state), "the state cannot be read"))
			return FAILED;
		if (state != before)
			printf("PCC host status %s\n", (unsigned int)state < 4 ? names[state] : "Error");
		before = state;
		if (state != DOCA_PCC_PS_ACTIVE && state != DOCA_PCC_PS_STANDBY)
			return NOT_RUNNING;
		if (doca_pcc_wait(pcc, LOOK_SECONDS) != DOCA_SUCCESS && !asked_to_end)
			sleep(LOOK_SECONDS); /* the state says what is wrong, and this loop must not spin */
	}
	return ENDED;
}

static int run(struct doca_dev *device, uint32_t *units, uint32_t count)
{
	struct doca_pcc *pcc;
	int code = FAILED;

	if (failed(doca_pcc_create(device, &pcc), "no congestion control on this device"))
		return FAILED;
	if (set_up(pcc, units, count) && !failed(doca_pcc_start(pcc), "the program cannot be started")) {
		code = watch(pcc);
		if (failed(doca_pcc_stop(pcc), "the program cannot be stopped"))
			code = FAILED;
	}
	if (failed(doca_pcc_destroy(pcc), "the program cannot be removed"))
		code = FAILED;
	return code;
}

int main(int argc, char **argv)
{
	const struct sigaction ending = {.sa_handler = end};
	const char *name = NULL;
	uint32_t units[MOST_UNITS], count = 0;
	struct doca_dev *device;
	bool wrong = false;
	int option, code;

	setvbuf(stdout, NULL, _IOLBF, 0); /* whoever watches the log sees a state when it is reached */
	while ((option = getopt(argc, argv, "d:t:")) != -1) {
		if (option == 'd')
			name = optarg;
		else if (option == 't')
			wrong |= !(count = units_of(optarg, units));
		else
			wrong = true;
	}
	if (!name || wrong || optind != argc) {
		fprintf(stderr, "usage: testbed-pcc -d DEVICE [-t UNITS], for example -d mlx5_0 -t 176-187,240\n");
		return BAD_ARGUMENTS;
	}
	sigaction(SIGINT, &ending, NULL);
	sigaction(SIGTERM, &ending, NULL);
	device = opened(name);
	if (!device)
		return FAILED;
	code = run(device, units, count);
	if (failed(doca_dev_close(device), "the device cannot be closed"))
		code = FAILED;
	return code;
}
