/* Operations that a process attempts in the sandbox, which must refuse some and allow others. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Exit codes of a process that made an attempt. */
enum { ATTEMPT_DONE = 0, ATTEMPT_REFUSED = 3, ATTEMPT_BROKEN = 4 };

#define ATTEMPT_READABLE "/etc/hostname"
#define ATTEMPT_FOLDER_SIZE 1024

struct attempt_scene {
    char folder[64]; /* contains the folders `state` (with `sub` and `file`) and `outside` */
    char root[32];
};

struct attempt {
    const char *name;
    int (*make)(void);
    bool by_files; /* only Landlock's file rules refuse the attempt */
};

/* Objects of a process in the sandbox, opened by attempt_open before the sandbox is entered. */
extern struct attempt_given {
    int listener; /* a listening socket with a waiting connection */
    int stranger; /* an unconnected socket */
    int memory;   /* a file of one page */
    int pair[2];
    char state[ATTEMPT_FOLDER_SIZE];
    char outside[ATTEMPT_FOLDER_SIZE];
} attempt_given;

extern const struct attempt attempt_forbidden[];
extern const size_t attempt_forbidden_count;
/* Number of attempts at the end of attempt_forbidden that are allowed in a process with a GPU,
 * because its driver needs them; for example, the driver reads /proc. */
#define ATTEMPT_OF_DRIVER_COUNT 6

extern const struct attempt attempt_needed[];
extern const size_t attempt_needed_count;

/* Attempts that the sandbox allows only in the process with the HTTP threads. */
extern const struct attempt attempt_front[];
extern const size_t attempt_front_count;

/* Runs this program again in the same way as the service starts its workers. */
int attempt_itself(void);

/* Prints `what` and the message for errno, then aborts. */
void attempt_fail(const char *what);

void attempt_open(struct attempt_scene *scene);
void attempt_close(const struct attempt_scene *scene);
