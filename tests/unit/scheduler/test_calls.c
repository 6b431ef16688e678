#include "tests/lib/scheduler_fixture.h"

/* This test has no assertions: sanitizers detect arguments that are never freed or that are freed
 * twice. */
TEST(call_finish_frees_the_arguments_of_each_kind_of_call)
{
    struct question *upload = new_upload(CALL_SUBMIT, RING);
    struct question *change = new_question(CALL_CHANGE, "graph");
    struct question *coordinates = new_question(CALL_PUT_COORDINATES, "graph");
    change->call.submit.changes.list = calloc(1, sizeof(*change->call.submit.changes.list));
    change->call.submit.changes.count = 1;
    text_append_string(&coordinates->call.coordinates.document, "name,lon,lat\n");
    struct question *result = new_question(CALL_RESULT, "graph");
    result->call.submit.warnings = strdup("[]"); /* warnings of the job that the call submits */
    struct question *questions[] = {upload, change, coordinates, result};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(call_brings_job(&questions[i]->call), i < 2);
        questions[i]->answered = true;
        call_finish(&questions[i]->call);
        assert_true(i != 3 || questions[i]->call.submit.warnings == NULL);
        forget(questions[i]);
    }
}
