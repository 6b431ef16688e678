/* apsp graphs and apsp rm: list and delete the graphs of a running service. */
#include "server/command/client.h"

enum { LIMIT = CLIENT_COUNT, CURSOR };

static const struct command_flag list_flags[] = {
    CLIENT_FLAGS,
    [LIMIT] = {"limit", "N", "Number of graphs to list, newest first (1 to 1000). Default: 50."},
    [CURSOR] = {"cursor", "ID",
                "Continue after this graph: the \"next\" value of the JSON output."},
    {NULL, NULL, NULL},
};

static const struct command_flag remove_flags[] = {CLIENT_FLAGS, {NULL, NULL, NULL}};

static void print_graphs(const json_t *document)
{
    const json_t *graphs = json_object_get(document, "graphs");
    for (size_t i = 0; i < json_array_size(graphs); i++) {
        const json_t *graph = json_array_get(graphs, i);
        const json_t *names = json_object_get(graph, "names");
        client_print_member(graph, "id");
        printf("  %10.0f vertices  %12.0f edges  ", client_number(graph, "n"),
               client_number(graph, "m"));
        client_print_member(graph, "result");
        for (size_t k = 0; k < json_array_size(names); k++) {
            const char *name = json_string_value(json_array_get(names, k));
            putchar(' ');
            command_print_string(name != NULL ? name : "", stdout);
        }
        putchar('\n');
    }
}

static enum status list_graphs(struct client *client, struct problem *reterr)
{
    const struct command_call *call = client->call;
    struct text path = client_path(client, "graphs", NULL, "");
    json_t *document;
    client_append_parameter(client, &path, "limit", call->values[LIMIT]);
    client_append_parameter(client, &path, "cursor", call->values[CURSOR]);
    STATUS_TRY(client_ask_json(client, "GET", &path, NULL, &document, reterr));
    return client_print(client, document, print_graphs, reterr);
}

static enum status remove_graph(struct client *client, struct problem *reterr)
{
    struct text path = client_path(client, "graphs", client->call->operands[0], "");
    return client_ask(client, "DELETE", &path, NULL, reterr);
}

const struct command command_graphs = {
    .name = "graphs",
    .summary = "Lists the graphs of the service: ID, size, kind of the result, names.",
    .flags = list_flags,
    .run = client_run,
    .ask = list_graphs,
};

const struct command command_rm = {
    .name = "rm",
    .operand_names = {"GRAPH"},
    .summary = "Deletes a graph and its results from the service.",
    .flags = remove_flags,
    .run = client_run,
    .ask = remove_graph,
};
