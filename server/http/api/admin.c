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
    static const char *const known[] = {"level", NULL};
    struct query_document members;
    json_t *root = NULL;

    STATUS_TRY(request_parse_document(request, &root, reterr));
    enum status status = query_from_document(root, known, &members, reterr);

    if (status == STATUS_OK &&
        (members.query.count == 0 ||
         !log_level_from_name(members.query.parameters[0].value, ret_level))) {
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
