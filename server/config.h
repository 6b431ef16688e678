/* The configuration: one table of keys in config_option.c gives each its default, range, help, flag
 * (--http.threads), environment variable (APSPD_HTTP_THREADS) and place in struct config.
 * Later wins: default, file, environment, flag. Immutable after start. */
#pragma once

#include "proto/problem.h"
#include "server/log.h"
#include "server/solver/solver.h"

#include <stdio.h>
#include <string.h>

#define CONFIG_TEXT_SIZE 256
#define CONFIG_NONE "none" /* where there may be no text */
#define CONFIG_SHOWN 80    /* values and names are shown to people up to this many bytes */

/* Before an address beyond loopback is listened on: keys and TLS, keys only, nothing. */
enum config_network { NETWORK_SECURE, NETWORK_PLAIN, NETWORK_OPEN };

/* auto: whatever layers of it there are; required: all of them, or no start. */
enum confinement { CONFINEMENT_AUTO, CONFINEMENT_REQUIRED, CONFINEMENT_OFF };
/* Where a solver runs: in a thread of the daemon, or in a process of its own. */
enum worker_isolation { WORKER_THREAD = 0, WORKER_PROCESS };

struct config {
    /* [http] */
    char listen[CONFIG_TEXT_SIZE];          /* HOST:PORT, port 0 picks a free one; unix:PATH */
    char socket_mode[8];                    /* of Unix sockets, in octal */
    enum config_network network;            /* what an address that others reach must have */
    char keys_file[CONFIG_TEXT_SIZE];       /* "none": open to whoever reaches it */
    char hosts[CONFIG_TEXT_SIZE];           /* a list; "none" */
    char cors_origins[CONFIG_TEXT_SIZE];    /* the same */
    char tiles[CONFIG_TEXT_SIZE];           /* addresses with {z}, {x} and {y}; "none" */
    char tiles_credit[CONFIG_TEXT_SIZE];    /* "none" */
    char tls_certificate[CONFIG_TEXT_SIZE]; /* "none": no TLS */
    char tls_key[CONFIG_TEXT_SIZE];
    uint32_t http_threads;
    uint32_t connection_limit;
    uint32_t address_limit;        /* connections from one address; 0 = all there are */
    uint32_t wrong_key_limit;      /* from one address in a minute; 0 = any number */
    uint32_t connection_timeout_s; /* without any byte moving */
    uint32_t header_timeout_s;     /* from accept, or the previous answer, to complete headers */
    uint64_t rate_floor;           /* bytes a second that a client must move, either way */
    uint32_t stall_timeout_s;      /* the time over which that is judged of answers */
    uint64_t upload_memory_bytes;  /* 0: half of what is available */
    uint64_t body_limit_bytes;
    uint64_t decoded_limit_bytes;  /* of a compressed upload, decompressed */
    uint64_t decoded_ratio;        /* the same by the bytes that came */
    uint64_t document_limit_bytes; /* JSON bodies that are documents, not graphs */
    uint32_t wait_limit_s;         /* longest long-poll */
    uint32_t heartbeat_s;          /* longest silence of a stream of events */
    uint32_t watcher_limit;        /* streams of events open at once */
    uint64_t json_cell_limit;      /* largest matrix answered as JSON */
    uint64_t pairs_limit_bytes;    /* bodies of pairs and vertices to ask about */

    /* [graph] */
    uint32_t vertex_limit; /* 0 = what the devices hold */
    uint64_t edge_limit;

    /* [jobs] */
    uint32_t queue_limit;
    uint32_t history_limit; /* finished jobs remembered */
    uint32_t drain_s;

    /* [store] */
    char state_dir[CONFIG_TEXT_SIZE];
    uint64_t result_budget_bytes; /* results kept on disk; the oldest used go first */
    uint32_t result_limit;
    uint64_t disk_reserve_bytes; /* left free */
    uint64_t path_budget_bytes;  /* edges and coordinates kept in memory */
    uint64_t plan_budget_bytes;  /* plans kept on disk */

    /* [solver] */
    struct solver_config solver;
    char launcher[CONFIG_TEXT_SIZE]; /* the command that starts ranks */

    /* [service] */
    enum confinement confinement;
    /* [hierarchy] */
    uint64_t label_budget_bytes; /* of pairs, in memory; 0 = a share of it */
    uint32_t sweep_limit_s;      /* for which one answer may compute rows */

    /* [worker] */
    enum worker_isolation isolation;
    uint32_t stall_s;     /* without progress, or a sign of life, of a worker's process */
    uint32_t sample_rows; /* of every result, checked by certificate before it is published */

    /* [log] */
    enum log_level log_level;
};

/* The task that the command line asks for; of several tasks the first of these. */
enum config_task {
    CONFIG_SHOW_HELP,
    CONFIG_SHOW_VERSION,
    CONFIG_PRINT,
    CONFIG_HASH_KEY,
    CONFIG_CHECK,
    CONFIG_RUN
};

/* Command-line arguments other than configuration keys. */
struct config_request {
    enum config_task task;
    const char *path; /* of the configuration file, NULL = none; lives as long as argv, environ */
};

/* Which keys a program takes: the daemon all, the one-shot command the solver section. */
enum config_program { CONFIG_DAEMON, CONFIG_COMMAND };

/* The next word of a list, and its size; moves the list on behind it. NULL at the end. A list that
 * is CONFIG_NONE has no words, which is the caller's to look at. */
static inline const char *config_list_next(const char **list, size_t *ret_size)
{
    const char *word = *list + strspn(*list, " ,");

    *ret_size = strcspn(word, " ,");
    *list = word + *ret_size;
    return *ret_size > 0 ? word : NULL;
}

/* File (if named by --config), environment, then flags. Unknown keys, flags and APSPD_ variables,
 * and values out of range, are STATUS_CONFIG with the file's line in the problem.
 * For CONFIG_COMMAND the flags of other meaning are left in place: ret_argc and argv hold what was
 * not consumed, program name first. */
MUST_CHECK enum status config_load(struct config *config, enum config_program program, int *argc,
                                   char **argv, char **environment,
                                   struct config_request *ret_request, struct problem *reterr);
/* STATUS_CONFIG, with words, for a file of secrets that all may read, or others than its owner
 * write. */
MUST_CHECK enum status config_check_secret(const char *path, struct problem *reterr);
