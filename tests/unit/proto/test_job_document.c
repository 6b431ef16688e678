#include "proto/job_document.h"
#include "tests/lib/test.h"

#include <jansson.h>

static const struct graph_summary summary = {.edges_read = 11,
                                             .loops_dropped = 1,
                                             .parallel_merged = 2,
                                             .min_weight = -2,
                                             .max_weight = 0.1,
                                             .components = 3,
                                             .negative_loop = NO_VERTEX,
                                             .negative = true};

static const struct job_report report = {.solver = "cpu",
                                         .device = "a processor",
                                         .timings = {.queue_s = 0.25,
                                                     .parse_s = 1,
                                                     .fill_s = 2,
                                                     .h2d_s = 3,
                                                     .compute_s = 4.5,
                                                     .d2h_s = 5,
                                                     .write_s = 6,
                                                     .total_s = 21.75},
                                         .plan.kind = PLAN_DENSE,
                                         .plan.parts = 1,
                                         .plan.work_fraction = 1,
                                         .plan.planning_s = 0.125};

static struct job_document queued_document(void)
{
    return (struct job_document){.id = "j_1",
                                 .graph_id = "g_1",
                                 .state = JOB_QUEUED,
                                 .position = 2,
                                 .eta_s = -1,
                                 .priority = 5,
                                 .created_s = 1700000000.25,
                                 .kind = KIND_F4,
                                 .vertex_count = 5,
                                 .edge_count = 8,
                                 .directed = true,
                                 .summary = &summary};
}

static void expect_text(char *text, const char *expected)
{
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

#define SUMMARY_TEXT                                                                               \
    "\"summary\":{\"n\":5,\"m\":8,\"directed\":true,\"loops_dropped\":1,"                          \
    "\"parallel_merged\":2,\"min_weight\":-2,\"max_weight\":0.1,\"negative\":true,"                \
    "\"components\":3"
#define LINKS_TEXT                                                                                 \
    "\"links\":{\"self\":\"/v1/jobs/j_1\",\"events\":\"/v1/jobs/j_1/events\","                     \
    "\"graph\":\"/v1/graphs/g_1\",\"distance\":\"/v1/graphs/g_1/distance\","                       \
    "\"matrix\":\"/v1/graphs/g_1/matrix\",\"path\":\"/v1/graphs/g_1/path\","                       \
    "\"stats\":\"/v1/graphs/g_1/stats\"},\"input\":null,\"workers_lost\":0,\"warnings\":[]"

TEST(a_queued_job_has_null_for_unknown_values)
{
    const struct job_document document = queued_document();
    expect_text(job_document_print(&document),
                "{\"id\":\"j_1\",\"graph\":\"g_1\",\"state\":\"queued\",\"position\":2,"
                "\"progress\":0,\"phase\":null,\"eta_s\":null,\"durable\":false,\"priority\":5,"
                "\"created\":\"2023-11-14T22:13:20.250Z\",\"started\":null,\"finished\":null,"
                "\"solver\":null,\"device\":null,\"timings\":null,\"plan\":null," SUMMARY_TEXT
                ",\"kind\":\"f4\",\"arithmetic\":\"f4\"},\"problem\":null," LINKS_TEXT "}");
}

TEST(a_finished_job_document_is_complete)
{
    struct job_report verified = report;
    struct job_document document = queued_document();
    verified.verification =
        (struct verification){.done = true, .rows = 4, .of = 5, .edges = 8, .seconds = 0.5};
    document.state = JOB_DONE;
    document.position = 0;
    document.progress = 1;
    document.phase = job_phase_name(PHASE_WRITING);
    document.eta_s = 0.5;
    document.durable = true;
    document.started_s = 1700000001;
    document.finished_s = 1700000002;
    document.graph_name = "rome";
    document.deadline_s = 60;
    document.report = &verified;
    expect_text(
        job_document_print(&document),
        "{\"id\":\"j_1\",\"graph\":\"g_1\",\"state\":\"done\",\"position\":0,"
        "\"progress\":1,\"phase\":\"writing\",\"eta_s\":0.5,\"durable\":true,\"priority\":5,"
        "\"created\":\"2023-11-14T22:13:20.250Z\","
        "\"started\":\"2023-11-14T22:13:21.000Z\","
        "\"finished\":\"2023-11-14T22:13:22.000Z\","
        "\"solver\":\"cpu\",\"device\":\"a processor\","
        "\"timings\":{\"queue_s\":0.25,\"parse_s\":1,\"fill_s\":2,\"h2d_s\":3,"
        "\"compute_s\":4.5,\"d2h_s\":5,\"write_s\":6,\"total_s\":21.75},"
        "\"plan\":{\"kind\":\"dense\",\"parts\":1,\"largest_separator\":0,"
        "\"work_fraction\":1,\"planning_s\":0.125,\"cached\":false}," SUMMARY_TEXT
        ",\"kind\":\"f4\",\"arithmetic\":\"f4\"},\"problem\":null," LINKS_TEXT
        ",\"verified\":{\"rows\":4,\"seconds\":0.5},"
        "\"verification\":{\"rows\":4,\"of\":5,\"edges\":8,\"on\":\"host\","
        "\"checks\":[\"zero_diagonal\",\"edges_relaxed\",\"tight_last_edge\",\"tight_path\"],"
        "\"tolerance\":0,\"seconds\":0.5},\"name\":\"rome\",\"deadline_s\":60}");
}

TEST(the_problem_document_lists_the_vertices_of_a_negative_cycle)
{
    struct job_report failed = report;
    struct job_document document = queued_document();
    char cycle[] = "[\"a\",7]";
    problem_set(&failed.problem, STATUS_NEGATIVE_CYCLE, "a cycle of weight -3");
    failed.cycle = cycle;
    failed.cycle_weight = -3;
    document.state = JOB_FAILED;
    document.report = &failed;
    char *text = job_document_print(&document);
    assert_non_null(text);
    json_t *object = json_loads(text, 0, NULL);
    const json_t *problem = json_object_get(object, "problem");
    assert_string_equal(json_string_value(json_object_get(problem, "code")), "NegativeCycle");
    const json_t *vertices = json_object_get(problem, "cycle");
    assert_int_equal(json_array_size(vertices), 2);
    assert_int_equal(json_integer_value(json_array_get(vertices, 1)), 7);
    assert_true(json_is_integer(json_object_get(problem, "weight")));
    assert_int_equal(json_integer_value(json_object_get(problem, "weight")), -3);
    json_decref(object);
    free(text);
}

TEST(a_job_without_its_graph_has_a_null_summary)
{
    struct job_document document = queued_document();
    document.summary = NULL;
    char *text = job_document_print(&document);
    assert_non_null(text);
    assert_non_null(strstr(text, "\"summary\":null"));
    free(text);
}

static struct job_report through_text(const struct job_report *original)
{
    struct job_report read;
    char *text = job_report_encode(original);
    assert_non_null(text);
    assert_int_equal(job_report_decode(text, &read), STATUS_OK);
    free(text);
    return read;
}

/* Stores and reads the report, and expects the same document and the same stored text. */
static void expect_round_trip(const struct job_report *original)
{
    struct job_report read = through_text(original);
    struct job_document document = queued_document();
    document.started_s = 1700000001;
    document.report = original;
    char *before = job_document_print(&document);
    assert_non_null(before);
    document.report = &read;
    expect_text(job_document_print(&document), before);
    free(before);
    char *text = job_report_encode(original);
    expect_text(job_report_encode(&read), text);
    free(text);
    job_report_finish(&read);
}

TEST(reports_survive_a_round_trip)
{
    struct job_report original = report;
    original.timings.compute_s = 0.333333333;
    original.device_count = 2;
    original.devices[1] =
        (struct device_share){.fill_s = 0.1, .compute_s = 0.142857143, .d2h_s = 5};
    original.plan.work_fraction = 0.123456789;
    original.plan.largest_separator = UINT32_MAX;
    original.plan.cached = true;
    original.verification = (struct verification){.done = true,
                                                  .rows = 1ULL << 40,
                                                  .of = 1ULL << 41,
                                                  .edges = 1ULL << 42,
                                                  .tolerance = 1e-5,
                                                  .seconds = 0.75};
    expect_round_trip(&report);
    expect_round_trip(&original);
    struct job_report read = through_text(&original);
    assert_true(read.verification.done);
    assert_null(read.cycle);
    job_report_finish(&read);
}

TEST(reports_keep_their_problem_and_cycle)
{
    struct job_report original = report;
    char cycle[] = "[1,2,3]";
    problem_refuse_limit(&original.problem, STATUS_NEGATIVE_CYCLE, 10, 20, NULL, "a \"cycle\"");
    original.cycle = cycle;
    original.cycle_weight = -0.1;
    expect_round_trip(&original);
    struct job_report read = through_text(&original);
    assert_string_equal(read.problem.detail, "a \"cycle\"");
    assert_false(read.verification.done);
    job_report_finish(&read);
}

TEST(a_reset_drops_the_stored_solve)
{
    struct job_report read = through_text(&report);
    struct job_document document = queued_document();
    job_report_reset(&read);
    document.started_s = 1700000001;
    document.report = &read;
    char *text = job_document_print(&document);
    assert_non_null(text);
    assert_non_null(strstr(text, "\"solver\":null,\"device\":null,\"timings\":{\"queue_s\":0"));
    assert_non_null(strstr(text, "\"plan\":null"));
    free(text);
    job_report_finish(&read);
}

#define WARNINGS                                                                                   \
    "[{\"code\":\"DirectedAssumed\",\"detail\":\"One way.\",\"hint\":\"directed=false\"},"         \
    "{\"code\":\"NameMoved\",\"detail\":\"Lost.\",\"hint\":\"\"}]"

TEST(warnings_of_a_report_are_printed)
{
    struct job_report original = report;
    char warnings[] = WARNINGS;
    original.warnings = warnings;
    struct job_report read = through_text(&original);
    assert_string_equal(read.warnings, WARNINGS);
    struct job_document document = queued_document();
    document.report = &read;
    char *text = job_document_print(&document);
    assert_non_null(text);
    assert_non_null(strstr(text, "\"warnings\":" WARNINGS));
    free(text);
    job_report_reset(&read);
    assert_string_equal(read.warnings, WARNINGS);
    job_report_finish(&read);
    assert_int_equal(job_report_decode("{\"warnings\":7}", &read), STATUS_CORRUPT);
}

TEST(a_job_counts_the_edges_dropped_from_its_own_upload)
{
    struct job_report original = report;
    struct job_document document = queued_document();
    const struct input_report input = {
        .known = true, .format = FORMAT_EDGES, .loops_dropped = 7, .parallel_merged = 9};
    original.input = input_report_print(&input);
    original.cached = true;
    struct job_report read = through_text(&original);
    document.report = &read;
    char *text = job_document_print(&document);
    assert_non_null(text);
    json_t *object = json_loads(text, 0, NULL);
    const json_t *own = json_object_get(object, "summary");
    assert_int_equal(json_integer_value(json_object_get(own, "loops_dropped")), 7);
    assert_int_equal(json_integer_value(json_object_get(own, "parallel_merged")), 9);
    assert_int_equal(json_integer_value(json_object_get(own, "components")), 3);
    assert_true(json_is_true(json_object_get(json_object_get(object, "input"), "cached")));
    json_decref(object);
    free(text);
    job_report_finish(&read);
    /* A job for a stored graph has no upload report, but its result may have been cached. */
    free(original.input);
    original.input = NULL;
    read = through_text(&original);
    assert_true(read.cached && read.input == NULL);
    text = job_document_print(&document);
    assert_non_null(text);
    assert_non_null(strstr(text, "\"input\":{\"cached\":true}"));
    assert_non_null(strstr(text, "\"loops_dropped\":1,"));
    free(text);
    job_report_finish(&read);
}

TEST(malformed_reports_are_refused_as_corrupt)
{
    const char *const texts[] = {"", "[]", "{\"moves\":1}", "{\"result\":{}}"};
    struct job_report read;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_int_equal(job_report_decode(texts[i], &read), STATUS_CORRUPT);
    }
}

TEST(numbers_out_of_range_are_refused_as_corrupt)
{
    static const char *const changes[][2] = {
        {"\"workers_lost\":2", "\"workers_lost\":-2"},
        {"\"workers_lost\":2", "\"workers_lost\":4294967296"},
    };
    struct job_report original = report;
    original.workers_lost = 2;
    char *text = job_report_encode(&original);
    assert_non_null(text);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        char changed[2048];
        struct job_report read = {0};
        const char *at = strstr(text, changes[i][0]);
        assert_non_null(at);
        snprintf(changed, sizeof(changed), "%.*s%s%s", (int)(at - text), text, changes[i][1],
                 at + strlen(changes[i][0]));
        assert_int_equal(job_report_decode(changed, &read), STATUS_CORRUPT);
    }
    free(text);
}

TEST(reports_with_an_invalid_cycle_or_warning_are_not_stored)
{
    struct job_report original = report;
    char text[] = "[1,";
    problem_set(&original.problem, STATUS_NEGATIVE_CYCLE, "a cycle");
    original.cycle = text;
    assert_null(job_report_encode(&original));
    original = report;
    original.warnings = text;
    assert_null(job_report_encode(&original));
}

TEST(a_graph_document_lists_names_and_links)
{
    const char *const names[] = {"rome", "roma", NULL};
    struct graph_document document = {.id = "g_1",
                                      .names = names,
                                      .created_s = 1700000000.25,
                                      .vertex_count = 5,
                                      .edge_count = 8,
                                      .directed = true,
                                      .file_bytes = 1234,
                                      .kind = KIND_I4,
                                      .summary = &summary};
    expect_text(graph_document_print(&document),
                "{\"id\":\"g_1\",\"names\":[\"rome\",\"roma\"],\"parent\":null,"
                "\"created\":\"2023-11-14T22:13:20.250Z\",\"n\":5,\"m\":8,\"directed\":true,"
                "\"bytes\":1234," SUMMARY_TEXT
                ",\"kind\":\"i4\",\"arithmetic\":\"i4\"},\"result\":null,\"job\":null,"
                "\"links\":{\"self\":\"/v1/graphs/g_1\",\"vertices\":\"/v1/graphs/g_1/vertices\","
                "\"distance\":\"/v1/graphs/g_1/distance\",\"matrix\":\"/v1/graphs/g_1/matrix\","
                "\"stats\":\"/v1/graphs/g_1/stats\"},\"coordinates\":null}");
    document.coordinate_system = "plane";
    document.located = 3;
    document.names = NULL;
    document.parent = "g_0";
    document.result_kind = "i4";
    document.job_id = "j_1";
    char *text = graph_document_print(&document);
    assert_non_null(text);
    assert_non_null(strstr(text, "\"names\":[],\"parent\":\"g_0\""));
    assert_non_null(strstr(text, "\"coordinates\":{\"system\":\"plane\",\"located\":3,"
                                 "\"missing\":2}"));
    assert_non_null(strstr(text, "\"components\":3,\"kind\":\"i4\",\"arithmetic\":\"i4\"}"));
    assert_non_null(strstr(text, "\"result\":\"i4\",\"job\":\"j_1\""));
    assert_non_null(strstr(text, "\"job\":\"/v1/jobs/j_1\""));
    free(text);
}

TEST(states_map_to_names_and_back)
{
    for (enum job_state each = JOB_QUEUED; each < JOB_STATE_COUNT; each++) {
        enum job_state found;
        assert_true(job_state_from_name(job_state_name(each), &found));
        assert_int_equal(found, each);
        assert_int_equal(job_state_is_final(each), each >= JOB_DONE);
    }
    enum job_state unused;
    assert_false(job_state_from_name("Queued", &unused));
}

TEST(times_are_printed_in_the_rfc_3339_format)
{
    char buffer[TIME_TEXT_SIZE];
    time_print(0, buffer);
    assert_string_equal(buffer, "1970-01-01T00:00:00.000Z");
    time_print(951782399.9996, buffer);
    assert_string_equal(buffer, "2000-02-28T23:59:59.999Z");
    time_print(1e300, buffer);
    assert_int_equal(strlen(buffer), 24);
}

TEST(the_count_of_lost_workers_survives_a_reset_of_the_report)
{
    struct job_report lost = {.solver = "cpu", .plan.parts = 1, .workers_lost = 2};
    struct job_report again;
    char *text = job_report_encode(&lost);
    assert_non_null(text);
    assert_int_equal(job_report_decode(text, &again), STATUS_OK);
    assert_int_equal(again.workers_lost, 2);
    job_report_reset(&again);
    assert_int_equal(again.plan.parts, 0);
    assert_int_equal(again.workers_lost, 2);
    /* Turns the number of lost workers in the text into an invalid number. */
    char *digit = strstr(text, "\"workers_lost\":2");
    assert_non_null(digit);
    digit[strlen("\"workers_lost\":")] = '-';
    assert_int_equal(job_report_decode(text, &again), STATUS_CORRUPT);
    free(text);
    job_report_finish(&lost);
}

static json_t *print(const struct estimate *estimate)
{
    char *text = estimate_print(estimate);
    json_t *root = text == NULL ? NULL : json_loads(text, 0, NULL);

    assert_non_null(root);
    free(text);
    return root;
}

TEST(an_estimate_that_fits_has_no_refusal_reason)
{
    const struct estimate estimate = {
        .vertex_count = 1000,
        .edge_count = 5000,
        .kind = KIND_I4,
        .solver = "cpu",
        .device = "a processor",
        .host_bytes = 4000000,
        .disk_bytes = 4100000,
        .seconds = 0.25,
        .vertex_limit = 60000,
        .edge_limit = 1000000,
        .free_disk_bytes = 1 << 30,
        .fits = true,
    };
    json_t *root = print(&estimate);

    assert_int_equal(json_integer_value(json_object_get(root, "n")), 1000);
    assert_int_equal(json_integer_value(json_object_get(root, "m")), 5000);
    assert_string_equal(json_string_value(json_object_get(root, "kind")), "i4");
    assert_true(json_real_value(json_object_get(root, "seconds")) == 0.25);
    assert_true(json_is_true(json_object_get(root, "fits")));
    assert_true(json_is_null(json_object_get(root, "reason")));
    assert_true(json_is_null(json_object_get(root, "hint")));
    json_t *limits = json_object_get(root, "limits");
    assert_int_equal(json_integer_value(json_object_get(limits, "vertex_limit")), 60000);
    json_decref(root);
}

TEST(a_refused_estimate_has_a_reason_and_a_size_that_fits)
{
    const struct estimate estimate = {
        .kind = KIND_F8,
        .solver = "gpu",
        .device = "a card",
        .seconds = -1,
        .reason = "too \"large\"",
        .hint = "take less",
    };
    json_t *root = print(&estimate);

    assert_true(json_is_false(json_object_get(root, "fits")));
    assert_true(json_is_null(json_object_get(root, "seconds")));
    assert_string_equal(json_string_value(json_object_get(root, "reason")), "too \"large\"");
    assert_string_equal(json_string_value(json_object_get(root, "hint")), "take less");
    json_decref(root);
}
