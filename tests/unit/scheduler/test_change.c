#include "server/scheduler/start_stop.h"
#include "tests/lib/change_fixture.h"

SCHEDULER_TEST(concurrent_changes_are_applied_one_after_the_other)
{
    struct question *questions[5];
    char parent[GRAPH_ID_SIZE];
    store_named(fixture, LINE, "line");
    memcpy(parent, owner_of(fixture, "line")->row.id, sizeof(parent));
    for (int i = 0; i < 5; i++) {
        questions[i] = new_change(fixture, "line", 10 + i);
    }
    for (int i = 0; i < 5; i++) {
        scheduler_post(fixture->scheduler, &questions[i]->call);
    }
    for (int i = 0; i < 5; i++) {
        wait_for(fixture, questions[i]);
        json_t *body = body_of(questions[i]);
        assert_string_equal(json_string_value(json_object_get(body, "parent")), parent);
        memcpy(parent, questions[i]->call.graph_id, sizeof(parent));
        json_decref(body);
        forget(questions[i]);
    }
    assert_string_equal(owner_of(fixture, "line")->row.id, parent);
    assert_distance(fixture, "line", 0, 2, "20");
}

/* The digest of the vertex names shows that the request resolved its rows with the names of another
 * graph. */
SCHEDULER_TEST(a_change_with_vertex_names_from_another_graph_is_refused)
{
    store_named(fixture, LINE, "line");
    struct question *question = new_change(fixture, "line", 10);
    question->call.submit.changes.names_digest[0] ^= 1;
    call_and_forget(fixture, question, STATUS_PRECONDITION_FAILED, 412);
    /* A row beyond the number of vertices is refused even if the digest of the names is correct. */
    question = new_change(fixture, "line", 10);
    question->call.submit.changes.list[0].target = 1000;
    call_and_forget(fixture, question, STATUS_PRECONDITION_FAILED, 412);
    assert_distance(fixture, "line", 0, 2, "11");
}

/* Without the refusal, the changes would wait for a job that no longer runs. */
SCHEDULER_TEST(a_shutdown_refuses_waiting_changes)
{
    char job[JOB_ID_SIZE];
    store_named(fixture, LINE, "line");
    submit_long(fixture, 1, job);
    struct question *first = new_change(fixture, "line", 10);
    struct question *second = new_change(fixture, "line", 11);
    first->call.wait_s = 0;
    call(fixture, first, STATUS_OK, 202);
    scheduler_post(fixture->scheduler, &second->call);
    while (STAILQ_EMPTY(&fixture->scheduler->parked)) {
        uv_run(&fixture->loop, UV_RUN_ONCE);
    }
    scheduler_drain(fixture->scheduler, set_drained, fixture);
    wait_for(fixture, second);
    assert_int_equal(second->call.status, STATUS_DRAINING);
    forget(first);
    forget(second);
    scheduler_drain_faster(fixture->scheduler);
    run_until(fixture, &fixture->drained);
    restart(fixture);
    cancel(fixture, job);
}

/* On a full disk, the first change may never finish, so later changes could wait for it forever. */
SCHEDULER_TEST(waiting_changes_are_refused_if_the_disk_is_full)
{
    struct scheduler *scheduler = fixture->scheduler;
    store_named(fixture, LINE, "line");
    struct question *first = new_change(fixture, "line", 10);
    struct question *second = new_change(fixture, "line", 11);
    struct name_move move = {0};
    names_begin_move(scheduler, &move, scheduler->nobody, "line");
    scheduler_post(scheduler, &first->call);
    while (STAILQ_EMPTY(&scheduler->parked)) {
        uv_run(&fixture->loop, UV_RUN_ONCE);
    }
    scheduler->ledger.is_full = true;
    call(fixture, second, STATUS_DISK_FULL, 507);
    scheduler->ledger.is_full = false;
    ledger_note_full(scheduler);
    scheduler_settle(scheduler);
    assert_true(first->answered);
    assert_int_equal(first->call.status, STATUS_DISK_FULL);
    names_end_move(scheduler, &move);
    forget(first);
    forget(second);
}
