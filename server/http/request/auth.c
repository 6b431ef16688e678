#include "server/http/request/auth.h"

#include "server/clock.h"
#include "server/config_option.h"
#include "server/http/request/request.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define KEY_DIGEST_SIZE 32
#define LINE_SIZE 512
#define KEY_LIMIT 4096

#define BLANKS " \t\r\n"

struct entry {
    unsigned char digest[KEY_DIGEST_SIZE];
    struct grant grant;
};

struct keyring {
    pthread_rwlock_t lock;
    struct tenant **tenants; /* borrowed */
    struct entry *entries;
    size_t count;
};

struct reading {
    const char *path;
    uint64_t line;
    struct entry *entries;
    size_t count;
    const struct keyring *keyring;
    struct problem *reterr;
};

enum status auth_create(struct tenant **tenants, struct keyring **ret_keyring)
{
    struct keyring *keyring = calloc(1, sizeof(*keyring));
    if (keyring == NULL || pthread_rwlock_init(&keyring->lock, NULL) != 0) {
        free(keyring);
        return STATUS_NO_MEMORY;
    }
    keyring->tenants = tenants;
    *ret_keyring = keyring;
    return STATUS_OK;
}

void auth_destroy(struct keyring *keyring)
{
    if (keyring == NULL) {
        return;
    }
    pthread_rwlock_destroy(&keyring->lock);
    free(keyring->entries);
    free(keyring);
}

/* Refuses a line of the file, without quoting it, because it could contain a key by mistake. */
static enum status refuse_line(const struct reading *reading, const char *words)
{
    return problem_refuse_at(reading->reterr, STATUS_CONFIG, reading->line, 0, NULL, "%s:%llu: %s",
                             reading->path, (unsigned long long)reading->line, words);
}

static bool read_digest(const char *word, unsigned char digest[KEY_DIGEST_SIZE])
{
    gnutls_datum_t hex = {(unsigned char *)(uintptr_t)word, (unsigned)strlen(word)};
    size_t size = KEY_DIGEST_SIZE;
    return hex.size == 2 * (size_t)KEY_DIGEST_SIZE &&
           strspn(word, "0123456789abcdef") == hex.size &&
           gnutls_hex_decode(&hex, digest, &size) == 0;
}

/* Returns the rights of a role; 0 for an unknown role. */
static unsigned read_role(const char *word)
{
    return strcmp(word, "reader") == 0      ? RIGHT_READ
           : strcmp(word, "submitter") == 0 ? RIGHT_READ | RIGHT_WRITE
           : strcmp(word, "monitor") == 0   ? RIGHT_MONITOR
           : strcmp(word, "admin") == 0     ? RIGHT_READ | RIGHT_WRITE | RIGHT_MONITOR
                                            : 0;
}

static bool read_quota(const char *word, struct quota *quota)
{
    const size_t prefix = strcspn(word, "=") + 1;
    const bool is_bytes = strncmp(word, "bytes=", prefix) == 0;
    const bool is_jobs = strncmp(word, "jobs=", prefix) == 0;
    uint64_t amount;
    /* A limit of 0 is refused, because it could be read as "nothing" or as "no limit". */
    if ((!is_bytes && !is_jobs && strncmp(word, "vertices=", prefix) != 0) ||
        !config_parse_number(word + prefix, true, &amount) || amount < 1 ||
        (!is_bytes && amount > UINT32_MAX)) {
        return false;
    }
    quota->stored_bytes = is_bytes ? amount : quota->stored_bytes;
    quota->waiting_jobs = is_jobs ? (uint32_t)amount : quota->waiting_jobs;
    quota->vertex_limit = is_bytes || is_jobs ? quota->vertex_limit : (uint32_t)amount;
    return true;
}

static bool is_tenant(const char *word)
{
    const size_t size = strlen(word);
    return size > 0 && size < TENANT_NAME_SIZE &&
           strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789._-") == size;
}

static enum status read_words(struct reading *reading, char *line)
{
    struct entry *entry = &reading->entries[reading->count];
    char *rest = NULL;
    const char *digest = strtok_r(line, BLANKS, &rest);
    const char *tenant = strtok_r(NULL, BLANKS, &rest);
    const char *role = strtok_r(NULL, BLANKS, &rest);
    const char *quota;
    if (digest == NULL || digest[0] == '#') {
        return STATUS_OK;
    }
    if (reading->count == KEY_LIMIT) {
        return refuse_line(reading, "the file has more than 4096 keys");
    }
    if (!read_digest(digest, entry->digest)) {
        return refuse_line(reading, "the first word must be the SHA-256 of a key as 64 hexadecimal "
                                    "digits 0-9 a-f; apspd --add-key writes such a line");
    }
    if (tenant == NULL || !is_tenant(tenant)) {
        return refuse_line(
            reading, "the second word must be the tenant: 1 to 31 of the characters a-z 0-9 . _ -");
    }
    entry->grant.rights = role == NULL ? 0 : read_role(role);
    if (entry->grant.rights == 0) {
        return refuse_line(reading,
                           "the third word must be a role: reader, submitter, monitor or admin");
    }
    while ((quota = strtok_r(NULL, BLANKS, &rest)) != NULL) {
        if (!read_quota(quota, &entry->grant.quota)) {
            return refuse_line(reading, "only jobs=N, bytes=N and vertices=N may follow the role");
        }
    }
    for (size_t i = 0; i < reading->count; i++) {
        if (memcmp(reading->entries[i].digest, entry->digest, KEY_DIGEST_SIZE) == 0) {
            return refuse_line(reading, "this key is listed twice");
        }
    }
    reading->count++;
    return tenant_find(reading->keyring->tenants, strcmp(tenant, "-") == 0 ? "" : tenant,
                       &entry->grant.tenant);
}

static enum status read_lines(struct reading *reading, FILE *stream)
{
    char line[LINE_SIZE];
    while (fgets(line, sizeof(line), stream) != NULL) {
        reading->line++;
        STATUS_TRY(strlen(line) < LINE_SIZE - 1 ? read_words(reading, line)
                                                : refuse_line(reading, "the line is too long"));
    }
    if (ferror(stream)) {
        return problem_set(reading->reterr, STATUS_CONFIG, "%s cannot be read", reading->path);
    }
    return reading->count > 0
               ? STATUS_OK
               : problem_set(reading->reterr, STATUS_CONFIG, "%s contains no key", reading->path);
}

enum status auth_load_keys(struct keyring *keyring, const char *path, struct problem *reterr)
{
    struct reading reading = {.path = path, .keyring = keyring, .reterr = reterr};
    FILE *stream = fopen(path, "re");
    if (stream == NULL) {
        return problem_set(reterr, STATUS_CONFIG, "cannot read the keys in %s: %s", path,
                           strerror(errno));
    }
    reading.entries = calloc(KEY_LIMIT, sizeof(*reading.entries));
    if (reading.entries == NULL) {
        fclose(stream);
        return problem_set(reterr, STATUS_NO_MEMORY, "There is not enough memory for the keys.");
    }
    enum status status = config_check_secret(path, reterr);
    STATUS_THEN(status, read_lines(&reading, stream));
    fclose(stream);
    if (status != STATUS_OK) {
        free(reading.entries);
        return status;
    }
    pthread_rwlock_wrlock(&keyring->lock);
    struct entry *old = keyring->entries;
    keyring->entries = reading.entries;
    keyring->count = reading.count;
    pthread_rwlock_unlock(&keyring->lock);
    free(old);
    return STATUS_OK;
}

unsigned auth_count_submitters(const struct keyring *keyring)
{
    const struct entry *entries = keyring->entries;
    unsigned submitters = 0;
    for (size_t i = 0; i < keyring->count; i++) {
        bool counts = (entries[i].grant.rights & RIGHT_WRITE) != 0;
        for (size_t j = 0; j < i && counts; j++) {
            counts = entries[j].grant.tenant != entries[i].grant.tenant ||
                     (entries[j].grant.rights & RIGHT_WRITE) == 0;
        }
        submitters += counts;
    }
    return submitters;
}

bool auth_find_key(struct keyring *keyring, const char *key, size_t size, struct grant *ret_grant)
{
    unsigned char digest[KEY_DIGEST_SIZE];
    bool found = false;
    *ret_grant = (struct grant){0};
    if (gnutls_hash_fast(GNUTLS_DIG_SHA256, key, size, digest) != 0) {
        return false;
    }
    pthread_rwlock_rdlock(&keyring->lock);
    /* Compare with every key, each in constant time, so that timing discloses nothing. */
    for (size_t i = 0; i < keyring->count; i++) {
        if (gnutls_memcmp(keyring->entries[i].digest, digest, KEY_DIGEST_SIZE) == 0) {
            *ret_grant = keyring->entries[i].grant;
            found = true;
        }
    }
    pthread_rwlock_unlock(&keyring->lock);
    return found;
}

#define HASH_SIZE (2 * KEY_DIGEST_SIZE + 1)

#define RANDOM_BYTES 24 /* gives a key of 32 characters in base64 */

static enum status append_line(const char *path, const char *line, struct problem *reterr)
{
    const int file = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    char last = '\n';
    const bool is_written = file >= 0 && lseek(file, 0, SEEK_END) >= 0 &&
                            (lseek(file, -1, SEEK_END) < 0 || read(file, &last, 1) == 1) &&
                            dprintf(file, "%s%s", last != '\n' ? "\n" : "", line) > 0 &&
                            fsync(file) == 0;
    if (!is_written) {
        problem_set(reterr, STATUS_CONFIG, "cannot write %s: %s", path, strerror(errno));
    }
    if (file >= 0) {
        close(file);
    }
    return is_written ? STATUS_OK : STATUS_CONFIG;
}

enum status auth_add_key(const char *path, const char *tenant, const char *role, FILE *to,
                         struct problem *reterr)
{
    unsigned char random[RANDOM_BYTES];
    unsigned char digest[KEY_DIGEST_SIZE];
    const gnutls_datum_t datum = {random, sizeof(random)};
    const gnutls_datum_t digest_datum = {digest, sizeof(digest)};
    gnutls_datum_t key = {NULL, 0};
    char hash[HASH_SIZE];
    size_t hash_size = sizeof(hash);
    char line[LINE_SIZE];
    if (!is_tenant(tenant) || read_role(role) == 0) {
        return problem_set(reterr, STATUS_CONFIG,
                           "--add-key FILE TENANT ROLE: TENANT must be 1 to 31 of the characters "
                           "a-z 0-9 . _ -, and ROLE must be reader, submitter, monitor or admin");
    }
    if (gnutls_rnd(GNUTLS_RND_KEY, random, sizeof(random)) != 0 ||
        gnutls_base64_encode2(&datum, &key) != 0 ||
        gnutls_hash_fast(GNUTLS_DIG_SHA256, key.data, key.size, digest) != 0 ||
        gnutls_hex_encode(&digest_datum, hash, &hash_size) != 0) {
        gnutls_free(key.data);
        return problem_set(reterr, STATUS_NO_MEMORY, "A random key cannot be generated.");
    }
    snprintf(line, sizeof(line), "%s %s %s\n", hash, tenant, role);
    const enum status status = append_line(path, line, reterr);
    if (status == STATUS_OK) {
        fprintf(to, "%.*s\n", (int)key.size, (const char *)key.data);
    }
    gnutls_free(key.data);
    return status;
}

#define SCHEME "Bearer "

/* The Authorization headers of a request. A request with more than one is refused, because a proxy
 * may have checked a different one. */
struct bearer {
    const char *value;
    size_t size;
    unsigned count;
};

static enum MHD_Result collect_bearer(void *context, enum MHD_ValueKind kind, const char *name,
                                      size_t name_size, const char *value, size_t value_size)
{
    static const char wanted[] = MHD_HTTP_HEADER_AUTHORIZATION;
    struct bearer *bearer = context;
    (void)kind;
    if (name_size == strlen(wanted) && strncasecmp(name, wanted, name_size) == 0) {
        bearer->value = value;
        bearer->size = value_size;
        bearer->count++;
    }
    return MHD_YES;
}

static bool find_grant(struct request *request, bool *ret_tried)
{
    const size_t prefix = strlen(SCHEME);
    struct bearer bearer = {0};
    MHD_get_connection_values_n(request->connection, MHD_HEADER_KIND, collect_bearer, &bearer);
    *ret_tried = bearer.count > 0;
    if (bearer.count != 1 || bearer.value == NULL || bearer.size <= prefix ||
        strncasecmp(bearer.value, SCHEME, prefix) != 0) {
        return false;
    }
    return auth_find_key(request->http_context->keyring, bearer.value + prefix,
                         bearer.size - prefix, &request->grant);
}

/* Refuses a request without a valid key. After too many wrong keys from an address, a client must
 * wait and reconnect for each further guess. A valid key is never delayed, because many clients may
 * share one address. */
static enum status refuse_key(struct request *request, bool tried, struct problem *reterr)
{
    struct http_context *http_context = request->http_context;
    const uint32_t wait_s = tried ? failed_logins_count(&http_context->failed_logins,
                                                        request->conn->address, clock_monotonic_s())
                                  : 0;
    if (wait_s > 0) {
        const double limit = http_context->config->wrong_key_limit;
        request->conn->is_last = true;
        request_set_header(request, MHD_HTTP_HEADER_RETRY_AFTER, "%" PRIu32, wait_s);
        return problem_refuse_limit(reterr, STATUS_WRONG_KEYS, limit, limit + 1,
                                    "A request with a valid key is always accepted.",
                                    "This address has sent too many wrong keys.");
    }
    request_set_header(request, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer realm=\"apspd\"");
    return problem_refuse(reterr, STATUS_UNAUTHORIZED,
                          "Send the key as \"Authorization: Bearer KEY\".",
                          "This request needs a valid key.");
}

enum status auth_check(struct request *request, struct problem *reterr)
{
    const unsigned right = request->match.route->right;
    bool tried;
    if (request->http_context->keyring == NULL || right == RIGHT_OPEN) {
        return STATUS_OK;
    }
    if (!find_grant(request, &tried)) {
        return refuse_key(request, tried, reterr);
    }
    if ((request->grant.rights & right) == 0) {
        return problem_set(reterr, STATUS_FORBIDDEN,
                           "The role of this key does not permit this request.");
    }
    return STATUS_OK;
}
