#include "server/http/api/serve.h"

#include <jansson.h>
#include <string.h>

void serve_admin_log_level(struct request *request)
{
    request_set_header(request, "Cache-Control", "no-store");
    request_answer_json(request, MHD_HTTP_OK,
                        json_pack("{s:s}", "level", log_level_name(log_get_level())));
}

static enum status read_level(const struct request *request, enum log_level *ret_level,
                              struct problem *reterr)
{
    enum status status = STATUS_OK;
    const char *name = NULL;
    json_t *root =
        json_loadb(request->document.bytes, request->document.size, JSON_REJECT_DUPLICATES, NULL);
    if (json_unpack(root, "{s:s!}", "level", &name) != 0) {
        status = problem_set(reterr, STATUS_BAD_REQUEST, "The body is not as %s.",
                             request->match.route->query->question);
    } else if (!log_level_from_name(name, ret_level)) {
        status = problem_set(reterr, STATUS_BAD_PARAMETER,
                             "level must be one of debug, info, warning, error.");
    }
    json_decref(root);
    return status;
}

/* Until the next SIGHUP, which sets what the configuration says. */
void serve_admin_set_log_level(struct request *request)
{
    enum log_level level;
    struct problem problem;

    if (read_level(request, &level, &problem) != STATUS_OK) {
        request_refuse(request, &problem);
        return;
    }
    log_set_level(level);
    log_write(LOG_INFO, "log_level_set", LOG_TEXT("log_level", log_level_name(level)));
    serve_admin_log_level(request);
}
