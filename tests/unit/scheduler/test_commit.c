#include "server/scheduler/commit.h"
#include "tests/lib/change_fixture.h"

static bool came_home;

static void note_home(struct commit *commit)
{
    assert_int_equal(commit->change.status, STATUS_OK);
    assert_false(commit_names(commit->scheduler, commit->entry->tenant, "ring"));
    came_home = true;
}

SCHEDULER_TEST(a_commit_keeps_its_name_and_graph_in_use_until_the_commit_is_stored)
{
    struct scheduler *scheduler = fixture->scheduler;
    struct question *question = new_upload(CALL_STORE_GRAPH, RING);
    struct commit *commit;
    call(fixture, question, STATUS_OK, 201);
    struct graph_entry *entry = graph_table_find_id(&scheduler->graphs, question->call.graph_id);
    assert_int_equal(commit_create(scheduler, note_home, &commit), STATUS_OK);
    commit->entry = entry;
    commit->keeps_graph = true;
    commit_add_name(commit, "ring", entry->row.id, entry->row.tenant);
    assert_false(commit_writes_graph(commit));
    assert_false(commit_names(scheduler, entry->tenant, "ring"));
    came_home = false;
    commit_send(commit);
    assert_true(commit_names(scheduler, entry->tenant, "ring"));
    assert_false(commit_names(scheduler, entry->tenant, "line"));
    assert_true(entry->active_jobs == 1 && entry->changes == 1 && scheduler->changes == 1);
    run_until(fixture, &came_home);
    assert_true(entry->active_jobs == 0 && entry->changes == 0 && scheduler->changes == 0);
    forget(question);
}
