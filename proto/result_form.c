#include "proto/result_form.h"

#include <stdio.h>
#include <string.h>

static const char *const names[RESULT_FORM_COUNT] = {"auto", "matrix", "hierarchy"};

bool result_form_from_name(const char *name, enum result_form *ret_form)
{
    for (enum result_form form = RESULT_FORM_AUTO; form < RESULT_FORM_COUNT; form++) {
        if (strcmp(names[form], name) == 0) {
            *ret_form = form;
            return true;
        }
    }
    return false;
}

json_t *result_summary_json(const struct result_summary *summary)
{
    return json_pack("{s:s, s:I, s:s, s:o*}", "kind", names[summary->form], "bytes",
                     (json_int_t)summary->bytes, "reason", summary->reason, "arcs",
                     summary->arcs > 0 ? json_integer((json_int_t)summary->arcs) : NULL);
}

bool result_summary_from_json(const json_t *object, struct result_summary *ret_summary)
{
    const char *form = json_string_value(json_object_get(object, "kind"));
    const char *reason = json_string_value(json_object_get(object, "reason"));
    const json_int_t bytes = json_integer_value(json_object_get(object, "bytes"));
    const json_int_t arcs = json_integer_value(json_object_get(object, "arcs"));
    if (form == NULL || reason == NULL || strlen(reason) >= sizeof(ret_summary->reason) ||
        bytes < 0 || arcs < 0 || !result_form_from_name(form, &ret_summary->form)) {
        return false;
    }
    snprintf(ret_summary->reason, sizeof(ret_summary->reason), "%s", reason);
    ret_summary->bytes = (uint64_t)bytes;
    ret_summary->arcs = (uint64_t)arcs;
    return true;
}
