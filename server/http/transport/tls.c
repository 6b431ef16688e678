#include "server/http/transport/tls.h"

#include "server/config.h"

#include <gnutls/gnutls.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of certificates in a chain: the server's and its issuers'. */
#define CHAIN_LIMIT 16

struct pair {
    gnutls_pcert_st chain[CHAIN_LIMIT];
    unsigned count;
    gnutls_privkey_t key;
    gnutls_datum_t certificate_pem;
    gnutls_datum_t key_pem;
    struct pair *older;
};

static _Atomic(struct pair *) latest;

static void destroy_pair(struct pair *pair)
{
    for (unsigned i = 0; i < pair->count; i++) {
        gnutls_pcert_deinit(&pair->chain[i]);
    }
    if (pair->key != NULL) {
        gnutls_privkey_deinit(pair->key);
    }
    gnutls_free(pair->certificate_pem.data);
    if (pair->key_pem.data != NULL) {
        explicit_bzero(pair->key_pem.data, pair->key_pem.size);
    }
    gnutls_free(pair->key_pem.data);
    free(pair);
}

void tls_unload(void)
{
    struct pair *older;
    for (struct pair *pair = atomic_exchange(&latest, NULL); pair != NULL; pair = older) {
        older = pair->older;
        destroy_pair(pair);
    }
}

static enum status refuse_file(const char *path, const char *words, int code,
                               struct problem *reterr)
{
    return problem_set(reterr, STATUS_CONFIG, "%s: %s: %s", path, words, gnutls_strerror(code));
}

static enum status read_files(struct pair *pair, const char *certificate, const char *key,
                              struct problem *reterr)
{
    int code = gnutls_load_file(certificate, &pair->certificate_pem);
    if (code != 0) {
        return refuse_file(certificate, "cannot be read", code, reterr);
    }
    code = gnutls_load_file(key, &pair->key_pem);
    return code != 0 ? refuse_file(key, "cannot be read", code, reterr)
                     : config_check_secret(key, reterr);
}

static enum status check_match(const struct pair *pair, const char *certificate, const char *key,
                               struct problem *reterr)
{
    gnutls_certificate_credentials_t both = NULL;
    int code = gnutls_certificate_allocate_credentials(&both);
    if (code == 0) {
        code = gnutls_certificate_set_x509_key_mem(both, &pair->certificate_pem, &pair->key_pem,
                                                   GNUTLS_X509_FMT_PEM);
    }
    gnutls_certificate_free_credentials(both);
    return code == 0 ? STATUS_OK
                     : problem_set(reterr, STATUS_CONFIG,
                                   "%s is not the key of the certificate in %s: %s", key,
                                   certificate, gnutls_strerror(code));
}

static enum status import_pair(struct pair *pair, const char *certificate, const char *key,
                               struct problem *reterr)
{
    unsigned count = CHAIN_LIMIT;
    int code = gnutls_pcert_list_import_x509_raw(pair->chain, &count, &pair->certificate_pem,
                                                 GNUTLS_X509_FMT_PEM, 0);
    if (code != 0) {
        return refuse_file(certificate, "not a PEM certificate", code, reterr);
    }
    pair->count = count;
    code = gnutls_privkey_init(&pair->key);
    if (code == 0) {
        code =
            gnutls_privkey_import_x509_raw(pair->key, &pair->key_pem, GNUTLS_X509_FMT_PEM, NULL, 0);
    }
    return code == 0 ? check_match(pair, certificate, key, reterr)
                     : refuse_file(key, "not a PEM private key", code, reterr);
}

static bool is_same(const gnutls_datum_t *a, const gnutls_datum_t *b)
{
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

enum status tls_load(const char *certificate, const char *key, struct problem *reterr)
{
    struct pair *old = atomic_load(&latest);
    struct pair *pair = calloc(1, sizeof(*pair));
    if (pair == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY,
                           "There is not enough memory for the certificate.");
    }
    enum status status = read_files(pair, certificate, key, reterr);
    /* Reloading unchanged files keeps the old pair, so reloads do not use more memory. */
    const bool is_unchanged = status == STATUS_OK && old != NULL &&
                              is_same(&old->certificate_pem, &pair->certificate_pem) &&
                              is_same(&old->key_pem, &pair->key_pem);
    if (status == STATUS_OK && !is_unchanged) {
        status = import_pair(pair, certificate, key, reterr);
    }
    if (status != STATUS_OK || is_unchanged) {
        destroy_pair(pair);
        return status;
    }
    pair->older = old;
    atomic_store(&latest, pair);
    return STATUS_OK;
}

void tls_show(gnutls_pcert_st **ret_chain, unsigned *ret_count, gnutls_privkey_t *ret_key)
{
    struct pair *pair = atomic_load(&latest);
    *ret_chain = pair->chain;
    *ret_count = pair->count;
    *ret_key = pair->key;
}
