#include "proto/result_form.h"
#include "tests/lib/test.h"

TEST(forms_are_found_by_name)
{
    static const char *const names[] = {"auto", "matrix", "hierarchy"};

    for (enum result_form form = RESULT_FORM_AUTO; form < RESULT_FORM_COUNT; form++) {
        enum result_form found;

        assert_true(result_form_from_name(names[form], &found));
        assert_int_equal(found, form);
    }
    assert_false(result_form_from_name("tree", &(enum result_form){RESULT_FORM_AUTO}));
}

TEST(summaries_survive_a_round_trip)
{
    const struct result_summary summary = {RESULT_FORM_HIERARCHY, RESULT_REASON_ASKED, 123456789012,
                                           42};
    struct result_summary found = {0};
    json_t *object = result_summary_json(&summary);

    assert_true(result_summary_from_json(object, &found));
    assert_int_equal(found.form, summary.form);
    assert_string_equal(found.reason, RESULT_REASON_ASKED);
    assert_int_equal(found.bytes, summary.bytes);
    assert_int_equal(found.arcs, summary.arcs);
    json_decref(object);
}

TEST(malformed_documents_are_refused)
{
    static const char *const texts[] = {
        "{}",
        "{\"kind\":\"matrix\",\"bytes\":1}",
        "{\"kind\":\"tree\",\"bytes\":1,\"reason\":\"requested\"}",
        "{\"kind\":\"matrix\",\"bytes\":1,\"reason\":1}",
        "{\"kind\":\"matrix\",\"bytes\":-1,\"reason\":\"requested\"}",
        "{\"kind\":\"hierarchy\",\"bytes\":1,\"reason\":\"requested\",\"arcs\":-1}",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct result_summary found = {0};
        json_t *object = json_loads(texts[i], 0, NULL);

        assert_non_null(object);
        assert_false(result_summary_from_json(object, &found));
        json_decref(object);
    }
}
