#include "server/scheduler/calls.h"
#include "server/scheduler/submit.h"

#include <stdlib.h>

bool call_brings_job(const struct call *call)
{
    return call->kind == CALL_SUBMIT || call->kind == CALL_STORE_GRAPH || call->kind == CALL_CHANGE;
}

void call_finish(struct call *call)
{
    if (call_brings_job(call) || call->kind == CALL_RESULT) {
        struct submit_call *submit = &call->submit;
        if (call->kind == CALL_CHANGE) {
            edge_changes_finish(&submit->changes);
        } else {
            reader_destroy(submit->reader);
            submit->reader = NULL;
        }
        upload_memory_release(&submit->share);
        free(submit->warnings);
        submit->warnings = NULL;
    } else if (call->kind == CALL_PUT_COORDINATES) {
        text_finish(&call->coordinates.document);
        upload_memory_release(&call->coordinates.share);
    } else if (call->kind == CALL_DAMAGE) {
        result_unref(call->damaged);
        call->damaged = NULL;
    }
    free(call->body);
    call->body = NULL;
}
