/* The configuration. One table in config_option.c gives each key its default, range, help text,
 * flag (--http.threads), environment variable (APSPD_HTTP_THREADS) and member of struct config. A
 * flag overrides the environment, the environment overrides the file, the file overrides the
 * default. main owns the struct; no thread changes it after the start. */
#pragma once

#include "proto/problem.h"
#include "server/log.h"
#include "server/solver/solver.h"

#include <string.h>

#define CONFIG_TEXT_SIZE 256
#define CONFIG_NONE "none" /* the value of a text key that is not set */
#define CONFIG_SHOWN 80    /* longest value or name quoted in a message, in bytes */

/* The security required of a non-loopback address: keys and TLS, only keys, or nothing. */
enum config_network { NETWORK_SECURE, NETWORK_PLAIN, NETWORK_OPEN };

/* How much of the sandbox apspd uses. auto: every layer that the kernel supports; required: apspd
 * refuses to start unless every layer is available; off: none. */
enum confinement { CONFINEMENT_AUTO, CONFINEMENT_REQUIRED, CONFINEMENT_OFF };
/* Where a solver runs: in a thread of the daemon, or in a separate process. */
enum worker_isolation { WORKER_THREAD = 0, WORKER_PROCESS };

struct config {
    /* Members of section [http]. */
    char listen[CONFIG_TEXT_SIZE];          /* HOST:PORT (port 0: any free port) or unix:PATH */
    char socket_mode[8];                    /* permissions of Unix sockets, in octal */
    enum config_network network;            /* security required of a non-loopback address */
    char keys_file[CONFIG_TEXT_SIZE];       /* "none": no keys, every client is accepted */
    char hosts[CONFIG_TEXT_SIZE];           /* accepted host names, or "none" */
    char cors_origins[CONFIG_TEXT_SIZE];    /* list of origins, "*", or "none" */
    char tiles[CONFIG_TEXT_SIZE];           /* URL with {z}, {x} and {y}, or "none" */
    char tiles_credit[CONFIG_TEXT_SIZE];    /* attribution of the map, or "none" */
    char tls_certificate[CONFIG_TEXT_SIZE]; /* "none": no TLS */
    char tls_key[CONFIG_TEXT_SIZE];
    uint32_t http_threads;
    uint32_t connection_limit;
    uint32_t address_limit;   /* maximum number of connections from one address; 0 = no limit */
    uint32_t wrong_key_limit; /* maximum wrong keys per minute from one address; 0 = no limit */
    uint32_t connection_timeout_s; /* longest time without any byte received or sent */
    uint32_t header_timeout_s;     /* time from accept or the previous answer to complete headers */
    uint64_t rate_floor; /* lowest rate of a body or an answer, bytes per second; 0 = no limit */
    uint32_t stall_timeout_s;     /* time over which rate_floor is measured for answers */
    uint64_t upload_memory_bytes; /* 0 = half of the available memory */
    uint64_t body_limit_bytes;
    uint64_t decoded_limit_bytes; /* largest decompressed size of an upload */
    uint64_t decoded_ratio; /* largest decompressed size as a multiple of the compressed size */
    uint64_t document_limit_bytes; /* largest JSON body that is not a graph */
    uint32_t wait_limit_s;         /* longest time that a long poll waits */
    uint32_t heartbeat_s;          /* longest time between two messages of an event stream */
    uint32_t watcher_limit;        /* maximum number of open event streams */
    uint64_t json_cell_limit;      /* maximum number of distances in a JSON answer */
    uint64_t pairs_limit_bytes;    /* largest body that lists pairs or vertices */

    /* Members of section [graph]. */
    uint32_t vertex_limit; /* 0 = as many as the devices can solve */
    uint64_t edge_limit;

    /* Members of section [jobs]. */
    uint32_t queue_limit;
    uint32_t history_limit; /* finished jobs whose documents are stored */
    uint32_t drain_s;

    /* Members of section [store]. */
    char state_dir[CONFIG_TEXT_SIZE];
    uint64_t result_budget_bytes; /* limit on results on disk; the least recently used go first */
    uint32_t result_limit;
    uint64_t disk_reserve_bytes; /* disk space that results must leave free */
    uint64_t path_budget_bytes;  /* limit on edges and coordinates cached in memory */
    uint64_t plan_budget_bytes;  /* limit on vertex orders cached on disk */

    /* Members of section [solver]. */
    struct solver_config solver;
    char launcher[CONFIG_TEXT_SIZE]; /* command that starts MPI ranks */

    /* Members of section [service]. */
    enum confinement confinement;
    /* Members of section [hierarchy]. */
    uint64_t label_budget_bytes; /* limit on cached labels and rows; 0 = default */
    uint32_t sweep_limit_s;      /* longest time that one answer may compute rows of a hierarchy */

    /* Members of section [worker]. */
    enum worker_isolation isolation;
    uint32_t stall_s; /* longest time a worker process may go without progress or a heartbeat */

    /* Members of section [log]. */
    enum log_level log_level;
};

/* The task that the command line selects. If it selects several tasks, the first in this list is
 * done. */
enum config_task { CONFIG_SHOW_HELP, CONFIG_SHOW_VERSION, CONFIG_PRINT, CONFIG_CHECK, CONFIG_RUN };

/* Command-line arguments other than configuration keys. */
struct config_request {
    enum config_task task;
    const char *path; /* configuration file, NULL = none; borrowed from argv or environ */
};

/* The program whose keys are accepted: apspd accepts all keys, apsp only those of [solver]. */
enum config_program { CONFIG_DAEMON, CONFIG_COMMAND };

/* Returns the next word of a list separated by spaces and commas, with its size, and advances the
 * list past it; NULL at the end. CONFIG_NONE is an empty list. */
static inline const char *config_list_next(const char **list, size_t *ret_size)
{
    const char *word = *list + strspn(*list, " ,");

    *ret_size = strcmp(*list, CONFIG_NONE) != 0 ? strcspn(word, " ,") : 0;
    *list = word + *ret_size;
    return *ret_size > 0 ? word : NULL;
}

/* Reads the file (if --config names one), the environment, then the flags. An unknown key, flag or
 * APSPD_ variable, or a value out of range, is STATUS_CONFIG; the problem says the file and line.
 * CONFIG_COMMAND leaves other flags in place: argc and argv then hold the arguments that were not
 * consumed, program name first. */
MUST_CHECK enum status config_load(struct config *config, enum config_program program, int *argc,
                                   char **argv, char **environment,
                                   struct config_request *ret_request, struct problem *reterr);
/* Returns STATUS_CONFIG with a problem if a file of secrets is readable by all, or writable by
 * users other than its owner. */
MUST_CHECK enum status config_check_secret(const char *path, struct problem *reterr);
