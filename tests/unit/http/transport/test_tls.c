#include "server/http/transport/tls.h"
#include "tests/lib/test.h"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct fixture {
    char certificate[40];
    char key[40];
};

static void write_text(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* Makes a key and a self-signed certificate, and writes each to its path if that is not NULL. */
static void make_pair(const char *certificate_path, const char *key_path)
{
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t certificate;
    gnutls_datum_t pem;

    gnutls_x509_privkey_init(&key);
    assert_int_equal(gnutls_x509_privkey_generate(
                         key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0),
                     0);
    gnutls_x509_crt_init(&certificate);
    gnutls_x509_crt_set_version(certificate, 3);
    gnutls_x509_crt_set_serial(certificate, "1", 1);
    gnutls_x509_crt_set_activation_time(certificate, time(NULL));
    gnutls_x509_crt_set_expiration_time(certificate, time(NULL) + 3600);
    gnutls_x509_crt_set_key(certificate, key);
    assert_int_equal(gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0), 0);
    if (certificate_path != NULL) {
        gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, &pem);
        write_text(certificate_path, pem.data, pem.size);
        gnutls_free(pem.data);
    }
    if (key_path != NULL) {
        gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &pem);
        write_text(key_path, pem.data, pem.size);
        gnutls_free(pem.data);
    }
    gnutls_x509_crt_deinit(certificate);
    gnutls_x509_privkey_deinit(key);
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    assert_non_null(fixture);
    snprintf(fixture->certificate, sizeof fixture->certificate, "/tmp/test_certificate_XXXXXX");
    snprintf(fixture->key, sizeof fixture->key, "/tmp/test_key_XXXXXX");
    close(mkstemp(fixture->certificate));
    close(mkstemp(fixture->key));
    make_pair(fixture->certificate, fixture->key);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    tls_unload();
    unlink(fixture->certificate);
    unlink(fixture->key);
    free(fixture);
    return 0;
}

static enum status load(const struct fixture *fixture, struct problem *problem)
{
    return tls_load(fixture->certificate, fixture->key, problem);
}

static const gnutls_pcert_st *shown(const struct fixture *fixture)
{
    gnutls_pcert_st *chain;
    gnutls_privkey_t key;
    unsigned count;

    tls_show(&chain, &count, &key);
    assert_int_equal(count, 1);
    assert_non_null(key);
    return chain;
}

#define FIXTURE_TEST(name) TEST_FIXTURE(name, struct fixture *fixture, set_up, tear_down)

FIXTURE_TEST(a_key_file_that_all_users_can_read_is_refused)
{
    struct problem problem = {0};
    assert_int_equal(chmod(fixture->key, 0640), 0);
    assert_int_equal(load(fixture, &problem), STATUS_OK);
    assert_int_equal(chmod(fixture->key, 0644), 0);
    assert_int_equal(load(fixture, &problem), STATUS_CONFIG);
    assert_non_null(strstr(problem.hint, "chmod 600"));
}

FIXTURE_TEST(a_new_certificate_is_presented_once_it_is_loaded)
{
    struct problem problem = {0};

    assert_int_equal(load(fixture, &problem), STATUS_OK);
    const gnutls_pcert_st *first = shown(fixture);
    assert_int_equal(load(fixture, &problem), STATUS_OK);
    assert_ptr_equal(shown(fixture), first); /* the files are unchanged */
    make_pair(fixture->certificate, fixture->key);
    assert_ptr_equal(shown(fixture), first);
    assert_int_equal(load(fixture, &problem), STATUS_OK);
    assert_ptr_not_equal(shown(fixture), first);
}

FIXTURE_TEST(a_broken_file_leaves_the_configuration_unchanged)
{
    struct problem problem = {0};

    assert_int_equal(load(fixture, &problem), STATUS_OK);
    const gnutls_pcert_st *first = shown(fixture);
    make_pair(NULL, fixture->key);
    assert_int_equal(load(fixture, &problem), STATUS_CONFIG);
    assert_non_null(strstr(problem.detail, "not the key of"));
    write_text(fixture->key, "nothing", 7);
    assert_int_equal(load(fixture, &problem), STATUS_CONFIG);
    assert_non_null(strstr(problem.detail, "not a PEM private key"));
    write_text(fixture->certificate, "nothing", 7);
    assert_int_equal(load(fixture, &problem), STATUS_CONFIG);
    assert_non_null(strstr(problem.detail, "not a PEM certificate"));
    unlink(fixture->certificate);
    assert_int_equal(load(fixture, &problem), STATUS_CONFIG);
    assert_non_null(strstr(problem.detail, "cannot be read"));
    assert_ptr_equal(shown(fixture), first);
}
