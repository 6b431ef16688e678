#include "server/http/request/auth.h"
#include "tests/lib/test.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

/* SHA-256 of alpha-key-0123456789 and beta-key-0123456789, computed with Python's hashlib. */
#define ALPHA "alpha-key-0123456789"
#define ALPHA_DIGEST "c0dcc758f85e141df105b3bb5a3612c123f82ce299c6ac130c7b3a871422ab10"
#define BETA "beta-key-0123456789"
#define BETA_DIGEST "2ceef8e068cde6846b1927df61a93f21ff955c66b310d0181260a84e5c34a8d7"

struct fixture {
    char path[32];
    struct tenant *tenants;
    struct keyring *keyring;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct tenant *nobody;

    assert_non_null(fixture);
    snprintf(fixture->path, sizeof fixture->path, "/tmp/test_keyring_XXXXXX");
    close(mkstemp(fixture->path));
    assert_int_equal(tenant_find(&fixture->tenants, "", &nobody), STATUS_OK);
    assert_int_equal(auth_create(&fixture->tenants, &fixture->keyring), STATUS_OK);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    auth_destroy(fixture->keyring);
    tenant_free_all(fixture->tenants);
    unlink(fixture->path);
    free(fixture);
    return 0;
}

static enum status load(const struct fixture *fixture, const char *text, struct problem *problem)
{
    FILE *file = fopen(fixture->path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return auth_load_keys(fixture->keyring, fixture->path, problem);
}

static bool find(const struct fixture *fixture, const char *key, struct grant *ret_grant)
{
    return auth_find_key(fixture->keyring, key, strlen(key), ret_grant);
}

#define FIXTURE_TEST(name) TEST_FIXTURE(name, struct fixture *fixture, set_up, tear_down)

FIXTURE_TEST(a_key_grants_the_role_and_quotas_of_its_line)
{
    struct problem problem = {0};
    struct grant grant;
    struct tenant *acme;

    assert_int_equal(load(fixture,
                          "# keys\n\n" ALPHA_DIGEST
                          " acme submitter jobs=3 bytes=2GiB vertices=90\n"
                          "  " BETA_DIGEST "\t-\treader",
                          &problem),
                     STATUS_OK);
    assert_true(find(fixture, ALPHA, &grant));
    assert_int_equal(tenant_find(&fixture->tenants, "acme", &acme), STATUS_OK);
    assert_ptr_equal(grant.tenant, acme);
    assert_int_equal(grant.rights, RIGHT_READ | RIGHT_WRITE);
    assert_int_equal(grant.quota.waiting_jobs, 3);
    assert_int_equal(grant.quota.vertex_limit, 90);
    assert_int_equal(grant.quota.stored_bytes, UINT64_C(2) << 30);
    assert_true(find(fixture, BETA, &grant));
    assert_int_equal(tenant_number(grant.tenant), 0);
    assert_int_equal(grant.rights, RIGHT_READ);
    assert_int_equal(grant.quota.waiting_jobs, 0);
}

FIXTURE_TEST(each_tenant_that_may_submit_is_counted_once)
{
    static const struct {
        const char *text;
        unsigned submitters;
    } cases[] = {
        {ALPHA_DIGEST " a submitter\n" BETA_DIGEST " a admin\n", 1},
        {ALPHA_DIGEST " a submitter\n" BETA_DIGEST " - admin\n", 2},
        {ALPHA_DIGEST " a reader\n" BETA_DIGEST " a submitter\n", 1},
        {ALPHA_DIGEST " a reader\n" BETA_DIGEST " b monitor\n", 0},
    };
    struct problem problem = {0};

    assert_int_equal(auth_count_submitters(fixture->keyring), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(load(fixture, cases[i].text, &problem), STATUS_OK);
        assert_int_equal(auth_count_submitters(fixture->keyring), cases[i].submitters);
    }
}

FIXTURE_TEST(values_that_are_not_the_access_key_grant_nothing)
{
    static const char *const cases[] = {
        "",           ALPHA "0", "alpha-key-012345678", "Alpha-key-0123456789", BETA,
        ALPHA_DIGEST, ALPHA " "};
    struct problem problem = {0};
    struct grant grant;

    assert_false(find(fixture, ALPHA, &grant)); /* no keys are loaded yet */
    assert_int_equal(load(fixture, ALPHA_DIGEST " a admin\n", &problem), STATUS_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_false(find(fixture, cases[i], &grant));
        assert_int_equal(grant.rights, 0);
    }
    assert_true(find(fixture, ALPHA, &grant));
}

FIXTURE_TEST(a_malformed_key_file_is_refused_and_changes_nothing)
{
    static const struct {
        const char *text;
        uint64_t line;
        const char *words;
    } cases[] = {
        {ALPHA " a admin\n", 1, "SHA-256"},
        {"\n" ALPHA_DIGEST "0 a admin\n", 2, "SHA-256"},
        {ALPHA_DIGEST " A admin\n", 1, "tenant"},
        {ALPHA_DIGEST " abcdefghijabcdefghijabcdefghij12 admin\n", 1, "tenant"},
        {ALPHA_DIGEST "\n", 1, "tenant"},
        {ALPHA_DIGEST " a\n", 1, "role"},
        {ALPHA_DIGEST " a root\n", 1, "role"},
        {ALPHA_DIGEST " a admin jobs=0\n", 1, "jobs=N"},
        {ALPHA_DIGEST " a admin jobs=4294967296\n", 1, "jobs=N"},
        {ALPHA_DIGEST " a admin bytes=1kB\n", 1, "bytes=N"},
        {ALPHA_DIGEST " a admin bytes=99999999999TiB\n", 1, "bytes=N"},
        {ALPHA_DIGEST " a admin speed=9\n", 1, "jobs=N"},
        {BETA_DIGEST " a admin\n" ALPHA_DIGEST " a admin\n" BETA_DIGEST " b reader\n", 3, "twice"},
        {"", 0, "no key"},
        {"# nothing\n", 0, "no key"},
    };
    struct problem problem = {0};
    struct grant grant;

    assert_int_equal(load(fixture, ALPHA_DIGEST " a admin\n", &problem), STATUS_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(load(fixture, cases[i].text, &problem), STATUS_CONFIG);
        assert_int_equal(problem.line, cases[i].line);
        assert_non_null(strstr(problem.detail, cases[i].words));
        assert_null(strstr(problem.detail, ALPHA)); /* a message must not reveal a key that was
                                                     * pasted by mistake */
        assert_true(find(fixture, ALPHA, &grant));
        assert_false(find(fixture, BETA, &grant));
    }
}

FIXTURE_TEST(a_line_that_is_too_long_is_refused)
{
    char text[1024];
    struct problem problem = {0};

    memset(text, '#', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_int_equal(load(fixture, text, &problem), STATUS_CONFIG);
    assert_non_null(strstr(problem.detail, "too long"));
}

FIXTURE_TEST(a_key_file_with_wide_permissions_is_refused)
{
    struct problem problem = {0};

    assert_int_equal(load(fixture, ALPHA_DIGEST " a admin\n", &problem), STATUS_OK);
    for (unsigned bit = S_IXOTH; bit <= S_IRWXU; bit <<= 1) {
        const bool is_refused = (bit & (S_IWGRP | S_IROTH | S_IWOTH)) != 0;

        problem = (struct problem){0};
        assert_int_equal(chmod(fixture->path, S_IRUSR | bit), 0);
        assert_int_equal(auth_load_keys(fixture->keyring, fixture->path, &problem),
                         is_refused ? STATUS_CONFIG : STATUS_OK);
        assert_true(is_refused == (strstr(problem.hint, "chmod 600") != NULL));
    }
    assert_int_equal(auth_load_keys(fixture->keyring, "/nowhere/keys", &problem), STATUS_CONFIG);
    assert_non_null(strstr(problem.detail, "/nowhere/keys"));
}
