/* Operations that a process attempts in the sandbox: some must be refused, others must work. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Exit codes of a process that made an attempt. */
enum { ATTEMPT_DONE = 0, ATTEMPT_REFUSED = 3, ATTEMPT_BROKEN = 4 };

#define ATTEMPT_READABLE "/etc/hostname"
#define ATTEMPT_FOLDER_SIZE 1024

struct attempt_scene {
    char folder[64]; /* contains `state`, the state directory with sub and file, and `outside` */
    char root[32];
};

struct attempt {
    const char *name;
    int (*make)(void);
    bool by_files; /* only Landlock's rules for files refuse the attempt */
};

/* Objects of a process in the sandbox, opened by attempt_open before the sandbox is entered. */
extern struct attempt_given {
    int listener; /* with a waiting connection */
    int stranger; /* an unconnected socket */
    int memory;   /* a file of one page */
    int pair[2];
    char state[ATTEMPT_FOLDER_SIZE];
    char outside[ATTEMPT_FOLDER_SIZE];
} attempt_given;

extern const struct attempt attempt_forbidden[];
extern const size_t attempt_forbidden_count;
/* The last forbidden attempts are allowed if a GPU's driver needs them, as it needs /proc. */
#define ATTEMPT_OF_DRIVER_COUNT 6

extern const struct attempt attempt_needed[];
extern const size_t attempt_needed_count;

/* Attempts that only the process with the HTTP threads may make. */
extern const struct attempt attempt_front[];
extern const size_t attempt_front_count;

/* Runs this program again, in the way in which the service starts its workers. */
int attempt_itself(void);

/* Prints `what` and the text of errno, and aborts. */
void attempt_fail(const char *what);

void attempt_open(struct attempt_scene *scene);
void attempt_close(const struct attempt_scene *scene);
