#include "tests/fault/fault_plan.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLAN_SIZE 65536

static int plan = -1;
static int tally = -1;
static int call = -1;

__attribute__((constructor)) static void open_plan(void)
{
    const char *path = getenv("FAULT_PLAN");
    char beside[4096];
    if (path == NULL) {
        return;
    }
    plan = open(path, O_RDONLY | O_CLOEXEC);
    snprintf(beside, sizeof(beside), "%s.tally", path);
    tally = open(beside, O_RDWR | O_CLOEXEC);
    if (plan < 0 || tally < 0) {
        perror(path);
        abort();
    }
}

__attribute__((constructor)) static void open_call(void)
{
    const char *path = getenv("FAULT_CALL");
    if (path == NULL || path[0] == '\0') {
        return;
    }
    call = open(path, O_RDONLY | O_CLOEXEC);
    if (call < 0) {
        perror(path);
        abort();
    }
}

void fault_plan_call(void)
{
    char byte;
    const ssize_t ignored = read(call, &byte, 1);
    (void)ignored;
}

static void lock(short type)
{
    struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
    while (fcntl(plan, F_SETLKW, &whole) != 0) {
    }
}

static void read_plan(char ret_text[PLAN_SIZE])
{
    lock(F_RDLCK);
    const ssize_t size = pread(plan, ret_text, PLAN_SIZE - 1, 0);
    lock(F_UNLCK);
    ret_text[size > 0 ? size : 0] = '\0';
}

static bool is_spent(unsigned line, unsigned times)
{
    const off_t place = (off_t)(line * sizeof(uint32_t));
    uint32_t struck = 0;
    if (pread(tally, &struck, sizeof(struck), place) < 0 || (times != 0 && struck >= times)) {
        return true;
    }
    ++struck;
    return pwrite(tally, &struck, sizeof(struck), place) != (ssize_t)sizeof(struck);
}

bool fault_plan_find(uint32_t vertices, const char *stage, struct fault *ret_fault)
{
    static _Thread_local char text[PLAN_SIZE];
    char *rest = text;
    const char *line;
    if (plan < 0) {
        return false;
    }
    read_plan(text);
    for (unsigned number = 0; (line = strsep(&rest, "\n")) != NULL; number++) {
        struct fault fault;
        if (sscanf(line, "%u %15s %15s %31s %u", &fault.vertices, fault.stage, fault.action,
                   fault.argument, &fault.times) == 5 &&
            (fault.vertices == 0 || fault.vertices == vertices) &&
            strcmp(fault.stage, stage) == 0 && !is_spent(number, fault.times)) {
            *ret_fault = fault;
            return true;
        }
    }
    return false;
}

bool fault_plan_has(int descriptor)
{
    return descriptor == plan || descriptor == tally || descriptor == call;
}
