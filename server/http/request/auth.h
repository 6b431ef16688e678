/* Authorization: the keys that let in, and what each is for. A file has one a line:
 *
 *   SHA256 TENANT ROLE [jobs=N] [bytes=N] [vertices=N]
 *
 * SHA256: of the key, 64 hexadecimal digits, so that the file gives no key away. TENANT: 1 to 31 of
 * a-z 0-9 . _ -, whose graphs and jobs the key is for; a dash alone is nobody: what was made
 * without keys. ROLE: reader, submitter, monitor or admin. What follows limits the tenant for this
 * key: jobs that wait, bytes of graphs and results, vertices of a graph; bytes take KiB, MiB, GiB
 * and TiB. Blank lines, and lines that begin with #, are left out.
 *
 * Read by any thread, replaced by the loop's: a read-write lock inside, held for microseconds. */
#pragma once

#include "server/scheduler/tenants.h"

#include <stdio.h>

/* The rights of a key are a set of these; a route requires one of them, or none. */
enum right {
    RIGHT_READ = 1,    /* ask about what is there */
    RIGHT_WRITE = 2,   /* upload, submit, cancel, delete */
    RIGHT_MONITOR = 4, /* metrics */
    RIGHT_OPEN = 8     /* of a route: it needs no key */
};

/* The tenant, rights and quota that a valid key gives to a request. */
struct grant {
    struct tenant *tenant; /* lives as long as the scheduler; NULL is nobody */
    unsigned rights;
    struct quota quota;
};

struct keyring;

/* Makes the tenant of a name; loop thread. */
typedef enum status (*auth_tenant)(void *context, const char *name, struct tenant **ret_tenant);

/* Empty: it lets nobody in. */
MUST_CHECK enum status auth_create(auth_tenant tenant, void *context, struct keyring **ret_keyring);
void auth_destroy(struct keyring *keyring);
/* Replaces all keys by those of the file. STATUS_CONFIG with words, and the line in the problem,
 * when it is broken, has no key, all may read it, or others than its owner may write it: the keys
 * stay as they were.
 * Loop thread. */
MUST_CHECK enum status auth_load_keys(struct keyring *keyring, const char *path,
                                      struct problem *reterr);
/* Tenants with a key that may submit. Loop thread. */
unsigned auth_count_submitters(const struct keyring *keyring);
/* False when it is none of them. Takes the same time for every key of a length, right or wrong. */
bool auth_find_key(struct keyring *keyring, const char *key, size_t size, struct grant *ret_grant);
/* Reads a key, one line, and prints its SHA256 as the file has it. STATUS_CONFIG for one that is
 * easily guessed, or cannot be sent in a header. */
MUST_CHECK enum status auth_hash_key(FILE *from, FILE *to, struct problem *reterr);

/* Makes a random key, appends its line to the file, which is made when it is not there, and prints
 * the key. STATUS_CONFIG for words that are no tenant or role, or a file that cannot be written. */
MUST_CHECK enum status auth_add_key(const char *path, const char *tenant, const char *role,
                                    FILE *to, struct problem *reterr);

struct request;

/* The key of a request must have the right that its route requires. Once the route is known, before
 * anything else of the request is looked at. STATUS_UNAUTHORIZED, with the header that says how to
 * ask, STATUS_WRONG_KEYS, which ends the connection, or STATUS_FORBIDDEN; else the request has its
 * grant. */
MUST_CHECK enum status auth_check(struct request *request, struct problem *reterr);
