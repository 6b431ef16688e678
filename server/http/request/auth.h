/* Authorization: API keys, their tenants and their rights. The keys file has one key per line:
 *
 *   SHA256 TENANT ROLE [jobs=N] [bytes=N] [vertices=N]
 *
 * SHA256 is the hash of the key, 64 hexadecimal digits, so the file does not disclose keys. TENANT,
 * 1 to 31 of the characters a-z 0-9 . _ -, owns the graphs and jobs that the key may use; a single
 * dash means the tenant without a name, which owns everything created without keys. ROLE is reader,
 * submitter, monitor or admin. The other words set the tenant's quota under this key: waiting jobs,
 * stored bytes of graphs and results (suffixes KiB, MiB, GiB, TiB), and vertices of a graph. Blank
 * lines and lines that begin with # are ignored.
 *
 * Any thread may look up a key; only the loop thread replaces the keyring. Each holds the
 * keyring's read-write lock for microseconds only. */
#pragma once

#include "server/scheduler/tenants.h"

#include <stdio.h>

/* Rights as bits. A key has a set of rights; a route requires one right, or no key. */
enum right {
    RIGHT_READ = 1,    /* query graphs, results and jobs */
    RIGHT_WRITE = 2,   /* upload, submit, cancel, delete */
    RIGHT_MONITOR = 4, /* metrics */
    RIGHT_OPEN = 8     /* marks a route that needs no key */
};

/* The tenant, rights and quota that a valid key gives to a request. */
struct grant {
    struct tenant *tenant; /* owned by the scheduler; NULL: the tenant without a name */
    unsigned rights;
    struct quota quota;
};

struct keyring;

/* Creates an empty keyring, which refuses every key. tenants: the list of all tenants, to which
 * auth_load_keys adds the tenants of new keys. */
MUST_CHECK enum status auth_create(struct tenant **tenants, struct keyring **ret_keyring);
void auth_destroy(struct keyring *keyring);
/* Replaces all keys with the keys in the file. Returns STATUS_CONFIG, with a message and the line
 * in the problem, and keeps the old keys when the file is malformed, has no key, is readable by
 * everybody or is writable by anyone but its owner. Loop thread. */
MUST_CHECK enum status auth_load_keys(struct keyring *keyring, const char *path,
                                      struct problem *reterr);
/* Returns the number of tenants that have a key with RIGHT_WRITE. Loop thread. */
unsigned auth_count_submitters(const struct keyring *keyring);
/* Finds the grant of a key; returns false for an unknown key. For keys of the same length the time
 * does not depend on the key, so that timing discloses nothing about the stored keys. */
bool auth_find_key(struct keyring *keyring, const char *key, size_t size, struct grant *ret_grant);
/* Generates a random key, appends its line to the file (created if missing) and prints the key.
 * Returns STATUS_CONFIG if the tenant or role is invalid or the file cannot be written. */
MUST_CHECK enum status auth_add_key(const char *path, const char *tenant, const char *role,
                                    FILE *to, struct problem *reterr);

struct request;

/* Checks that the request's key has the right that its route requires, and stores the key's grant
 * in the request. Called once the route is known, before the query is parsed. Errors:
 * STATUS_UNAUTHORIZED, with a WWW-Authenticate header; STATUS_WRONG_KEYS, which closes the
 * connection; STATUS_FORBIDDEN. */
MUST_CHECK enum status auth_check(struct request *request, struct problem *reterr);
