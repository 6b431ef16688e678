#include "tests/lib/change_fixture.h"

struct question *new_change(struct fixture *fixture, const char *key, double weight)
{
    struct question *question = new_question(CALL_CHANGE, key);
    struct question *graph = new_question(CALL_GRAPH, key);
    struct vertex_names *names = NULL;
    call(fixture, graph, STATUS_OK, 200);
    assert_int_equal(graph_file_read_names(store_folder(fixture->store, STORE_GRAPHS),
                                           graph->call.graph_id, &names),
                     STATUS_OK);
    assert_int_equal(identity_of_names(names, question->call.submit.changes.names_digest),
                     STATUS_OK);
    question->call.submit.changes.list = calloc(1, sizeof(*question->call.submit.changes.list));
    assert_non_null(question->call.submit.changes.list);
    question->call.submit.changes.count = 1;
    question->call.submit.changes.list[0] = (struct edge_change){.target = 1, .weight = weight};
    question->call.wait_s = LONG_S;
    vertex_names_destroy(names);
    forget(graph);
    return question;
}

void change(struct fixture *fixture, const char *key, double weight, const char *job_state,
            char graph_id[GRAPH_ID_SIZE])
{
    struct question *question = new_change(fixture, key, weight);
    call(fixture, question, STATUS_OK, 200);
    assert_state(question, job_state);
    memcpy(graph_id, question->call.graph_id, GRAPH_ID_SIZE);
    forget(question);
}

void store_named(struct fixture *fixture, const char *edges, const char *name)
{
    struct question *question = new_upload(CALL_SUBMIT, edges);
    snprintf(question->call.submit.parameters.name, NAME_SIZE, "%s", name);
    question->call.wait_s = LONG_S;
    call_and_forget(fixture, question, STATUS_OK, 200);
}

const struct graph_entry *owner_of(const struct fixture *fixture, const char *name)
{
    return graph_table_find_name(&fixture->scheduler->graphs, fixture->scheduler->nobody, name);
}
