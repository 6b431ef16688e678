/* The status of an operation: success or a kind of failure. One table gives each status its problem
 * code, HTTP status and exit code. Every function that can fail returns enum status. Output
 * parameters come last, are named ret_x, and are written only on STATUS_OK. Error codes of other
 * software (errno, libuv, SQLite, CUDA) are translated in the file that calls the library. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#define MUST_CHECK __attribute__((warn_unused_result))

/* Aborts the process if the condition is false, which must be a bug of the program. CHECK is always
 * compiled in. It must not test input, memory, disks or devices, whose failures are a status. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: broken invariant: %s\n", __FILE__, __LINE__, #condition);      \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

enum status {
    STATUS_OK = 0,

    /* The request is malformed. */
    STATUS_BAD_REQUEST,
    STATUS_UNKNOWN_PARAMETER,
    STATUS_BAD_PARAMETER,
    STATUS_UNAUTHORIZED,
    STATUS_FORBIDDEN,
    STATUS_CROSS_ORIGIN,
    STATUS_WRONG_HOST,
    STATUS_NO_SUCH_ROUTE,
    STATUS_NO_SUCH_GRAPH,
    STATUS_NO_SUCH_JOB,
    STATUS_NO_SUCH_VERTEX,
    STATUS_METHOD_NOT_ALLOWED,
    STATUS_NOT_ACCEPTABLE,
    STATUS_PRECONDITION_FAILED,
    STATUS_LENGTH_REQUIRED,
    STATUS_HEAD_TOO_LARGE,
    STATUS_UNSUPPORTED_MEDIA_TYPE,
    STATUS_RANGE_NOT_SATISFIABLE,

    /* The request is well formed but conflicts with the current state. */
    STATUS_NOT_SOLVED,
    STATUS_NOT_A_MATRIX,
    STATUS_NO_COORDINATES,
    STATUS_JOB_FINISHED,
    STATUS_GRAPH_IN_USE,
    STATUS_IDEMPOTENCY_MISMATCH,
    STATUS_TOO_LARGE,
    STATUS_BODY_TOO_LARGE,

    /* The graph is refused. */
    STATUS_BAD_GRAPH,
    STATUS_EMPTY_BODY,
    STATUS_TRUNCATED,
    STATUS_WEIGHT_RANGE,
    STATUS_NEGATIVE_CYCLE,
    STATUS_BAD_COORDINATES,

    /* The service is busy; the same request may succeed later. */
    STATUS_QUEUE_FULL,
    STATUS_JOB_QUOTA,
    STATUS_STORAGE_QUOTA,
    STATUS_TOO_MANY_WATCHERS,
    STATUS_UPLOAD_MEMORY,
    STATUS_ADDRESS_LIMIT,
    STATUS_WRONG_KEYS,
    STATUS_CONNECTION_LIMIT,
    STATUS_DRAINING,
    STATUS_NOT_READY,
    STATUS_CANCELLED,
    STATUS_DEADLINE_EXCEEDED,

    /* The service failed. */
    STATUS_NO_MEMORY,
    STATUS_NO_DEVICE_MEMORY,
    STATUS_NO_DEVICE,
    STATUS_DISK_FULL,
    STATUS_IO,
    STATUS_CORRUPT,
    STATUS_NOT_VERIFIED,
    STATUS_DEVICE_LOST,
    STATUS_POISON_JOB,
    STATUS_CONFIG,

    STATUS_COUNT
};

/* If the call fails, returns its status from the calling function, which has nothing to release. */
#define STATUS_TRY(call)                                                                           \
    do {                                                                                           \
        const enum status try_status = (call);                                                     \
        if (try_status != STATUS_OK) {                                                             \
            return try_status;                                                                     \
        }                                                                                          \
    } while (0)

/* The next step of a function that releases something at its end: makes the call and stores its
 * status in `status`, unless an earlier step failed. */
#define STATUS_THEN(status, call)                                                                  \
    do {                                                                                           \
        if ((status) == STATUS_OK) {                                                               \
            (status) = (call);                                                                     \
        }                                                                                          \
    } while (0)

/* code: stable PascalCase name of the problem; title: one line for users; http: status code of the
 * response; exit_code: exit code of the command apsp (1 bad input, 2 usage, 3 device). */
struct status_info {
    const char *code;
    const char *title;
    unsigned http;
    int exit_code;
};

/* Returns a row of the table of statuses, never NULL, valid for the life of the process. */
const struct status_info *status_info(enum status status);
