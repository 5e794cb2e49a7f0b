/* What a timer's interrupt takes from the core that it comes to: a loop that counts, with the timer and without, in turns.
 *
 *   wakeup PERIOD_NS PAIRS    a line per pair: microseconds of the core per interrupt
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const double PHASE = 0.2; /* s */
static volatile sig_atomic_t came;

static void count(int signal) { (void)signal; came++; }

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static double turns_per_second(void) {
    double began = now(), seconds;
    unsigned long turns = 0;
    do {
        for (volatile int i = 0; i < 1000; i++) {}
        turns++;
    } while ((seconds = now() - began) < PHASE);
    return turns / seconds;
}

int main(int argc, char **argv) {
    long period = argc > 1 ? atol(argv[1]) : 100000;
    int pairs = argc > 2 ? atoi(argv[2]) : 15;
    cpu_set_t one;
    timer_t timer;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof one, &one) || signal(SIGALRM, count) == SIG_ERR || timer_create(CLOCK_MONOTONIC, NULL, &timer)) {
        perror("wakeup");
        return 1;
    }
    for (int pair = 0; pair < pairs; pair++) {
        struct itimerspec on = {{0, period}, {0, period}}, off = {{0, 0}, {0, 0}};
        double without = turns_per_second();
        came = 0;
        timer_settime(timer, 0, &on, NULL);
        double with = turns_per_second();
        timer_settime(timer, 0, &off, NULL);
        printf("%.2f\n", 1e6 * PHASE * (1 - with / without) / came);
    }
    return 0;
}
