#include "server/http/api/serve.h"

#include "server/commit.h"

#include <jansson.h>

void serve_service_live(struct request *request)
{
    request_answer_json(request, json_pack("{s:b}", "live", 1));
}

void serve_service_ready(struct request *request)
{
    const struct admission *admission = scheduler_admission(request->http_context->scheduler);
    const bool worker = scheduler_ready_workers(request->http_context->scheduler) > 0;
    if (atomic_load(&admission->draining)) {
        request_refuse_with(request, STATUS_DRAINING, "The service is shutting down.", NULL);
    } else if (!worker) {
        request_refuse_with(request, STATUS_NOT_READY,
                            "No worker is ready: all are lost or restarting. Queries about solved "
                            "graphs are still answered.",
                            NULL);
    } else if (query_value(&request->query, "verbose") != NULL) {
        request_answer_json(request, json_pack("{s:b, s:{s:b, s:b, s:I}}", "ready", 1, "checks",
                                               "worker", worker, "draining",
                                               atomic_load(&admission->draining), "queue_free",
                                               (json_int_t)atomic_load(&admission->queue_free)));
    } else {
        request_answer_json(request, json_pack("{s:b}", "ready", 1));
    }
}

void serve_service_version(struct request *request)
{
    request_answer_json(request,
                        json_pack("{s:s, s:s, s:s, s:{s:b}}", "version", APSPD_VERSION, "commit",
                                  build_commit, "api", "v1", "build", "cuda", APSPD_HAVE_CUDA));
}

void serve_service_limits(struct request *request)
{
    const struct config *config = request->http_context->config;
    const struct admission *admission = scheduler_admission(request->http_context->scheduler);
    const struct {
        const char *name;
        uint64_t value;
    } limits[] = {
        {"vertex_limit", admission->vertex_limit},
        {"hierarchy_vertex_limit", admission->hierarchy_vertex_limit},
        {"edge_limit", config->edge_limit},
        {"body_limit_bytes", config->body_limit_bytes},
        {"upload_memory_bytes", request->http_context->upload_memory.limit_bytes},
        {"decoded_limit_bytes", config->decoded_limit_bytes},
        {"decoded_ratio_limit", config->decoded_ratio},
        {"document_limit_bytes", config->document_limit_bytes},
        {"pairs_limit_bytes", config->pairs_limit_bytes},
        {"json_cell_limit", config->json_cell_limit},
        {"edge_list_limit", SERVE_EDGE_LIMIT},
        {"path_budget_bytes", config->path_budget_bytes},
        {"wait_limit_s", config->wait_limit_s},
        {"heartbeat_s", config->heartbeat_s},
        {"watcher_limit", config->watcher_limit},
        {"queue_limit", config->queue_limit},
        {"history_limit", config->history_limit},
        {"result_budget_bytes", config->result_budget_bytes},
        {"result_limit", config->result_limit},
        {"hierarchy_sweep_limit_s", config->sweep_limit_s},
        {"connection_limit", config->connection_limit},
        {"address_limit", config->address_limit},
        {"wrong_key_limit", config->wrong_key_limit},
        {"rate_floor", config->rate_floor},
        {"stall_timeout_s", config->stall_timeout_s},
        {"connection_timeout_s", config->connection_timeout_s},
        {"header_timeout_s", config->header_timeout_s},
        {"drain_s", config->drain_s},
    };
    const char *const tiles = strcmp(config->tiles, CONFIG_NONE) != 0 ? config->tiles : NULL;
    const char *const credit =
        strcmp(config->tiles_credit, CONFIG_NONE) != 0 ? config->tiles_credit : NULL;
    json_t *root = json_object();
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        json_object_set_new(root, limits[i].name, json_integer((json_int_t)limits[i].value));
    }
    json_object_update_new(root, json_pack("{s:s, s:s*, s:s*}", "vertex_limit_reason",
                                           admission->limit_reason, "tiles", tiles, "tiles_credit",
                                           credit));
    request_answer_json(request, root);
}

static json_t *list_of(const char *const *words, size_t limit)
{
    json_t *list = json_array();
    for (size_t i = 0; i < limit && words[i] != NULL; i++) {
        json_array_append_new(list, json_string(words[i]));
    }
    return list;
}

static json_t *format_json(const struct format_info *info)
{
    return json_pack(
        "{s:s, s:s, s:o, s:o}", "name", info->name, "description", info->description, "media_types",
        list_of(info->media_types, sizeof(info->media_types) / sizeof(info->media_types[0])),
        "file_endings",
        list_of(info->file_endings, sizeof(info->file_endings) / sizeof(info->file_endings[0])));
}

static json_t *input_json(const struct format_info *info)
{
    json_t *object = format_json(info);
    json_t *parameters = list_of(info->parameters, SIZE_MAX);
    json_array_insert_new(parameters, 0, json_string("name"));
    json_object_set_new(object, "parameters", parameters);
    json_object_set_new(object, "sniffed", json_boolean(!info->is_unmarked));
    return object;
}

void serve_service_formats(struct request *request)
{
    json_t *inputs = json_array();
    json_t *outputs = json_array();
    json_t *encodings = json_array();
    for (enum coding coding = CODING_IDENTITY; coding < CODING_COUNT; coding++) {
        json_array_append_new(encodings, json_string(decoder_coding_name(coding)));
    }
    for (int format = FORMAT_NONE + 1; format < FORMAT_COUNT; format++) {
        const struct format_info *info = format_info((enum format)format);
        if (info->parameters != NULL) {
            json_array_append_new(inputs, input_json(info));
        }
        if (info->matrix_output) {
            json_array_append_new(outputs, format_json(info));
        }
    }
    request_answer_json(request, json_pack("{s:o, s:o, s:o}", "inputs", inputs, "outputs", outputs,
                                           "encodings", encodings));
}

void serve_service_devices(struct request *request)
{
    static const char *const states[] = {
        [WORKER_READY] = "ready", [WORKER_RESTARTING] = "restarting", [WORKER_LOST] = "lost"};
    const struct device_list *devices = scheduler_devices(request->http_context->scheduler);
    const char *reason = devices->gpu_reason[0] != '\0' ? devices->gpu_reason : NULL;
    json_t *list = json_array();
    for (uint32_t i = 0; i < devices->count; i++) {
        const struct solver_device *device = &devices->devices[i];
        const struct worker_health *health = devices->health[i];
        json_t *indexes = json_array();
        for (uint32_t j = 0; j < device->members; j++) {
            json_array_append_new(indexes, json_integer(device->index + j));
        }
        json_array_append_new(
            list,
            json_pack("{s:s, s:I, s:s, s:s, s:I, s:I, s:I, s:s, s:o}", "state",
                      states[atomic_load(&health->state)], "restarts",
                      (json_int_t)atomic_load(&health->restarts), "solver", device->solver, "name",
                      device->name, "memory_bytes", (json_int_t)device->memory_bytes,
                      "memory_free_bytes", (json_int_t)device->memory_free_bytes, "units",
                      (json_int_t)device->units, "detail", device->detail, "indexes", indexes));
    }
    request_answer_json(request, json_pack("{s:o, s:s?}", "devices", list, "gpu_reason", reason));
}

/* Sends the page that the type member of a problem links to. */
void serve_service_problem(struct request *request)
{
    char type[PROBLEM_TYPE_SIZE];
    struct text text = {0};
    for (enum status status = STATUS_OK + 1; status < STATUS_COUNT; status++) {
        const struct status_info *info = status_info(status);
        problem_print_type(status, type);
        if (strcmp(type + strlen(PROBLEM_TYPES), request->match.capture) == 0) {
            text_printf(
                &text,
                "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">"
                "<title>%s</title>\n<h1>%s</h1>\n<p>Code <code>%s</code>, HTTP status %d. "
                "The detail and the hint of the response say what is wrong with the request and "
                "how to correct it.</p>\n<p><a href=\"../docs\">API</a></p></html>\n",
                info->title, info->title, info->code, info->http);
            request_answer_text(request, MHD_HTTP_OK, "text/html", &text);
            return;
        }
    }
    request_refuse_with(request, STATUS_NO_SUCH_ROUTE, "There is no problem type with this name.",
                        "/docs lists the problem codes.");
}
