#include "server/command/bench_output.h"

#include "server/command/bench_document.h"
#include "server/command/bench_heat.h"
#include "server/command/bench_picture.h"
#include "server/command/output_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum status bench_output_json(const struct bench_report *report, const char *path,
                              struct problem *reterr)
{
    struct text text = {0};
    enum status status = bench_document_print(report, &text);
    status = status == STATUS_OK ? output_file_save(path, text.bytes, text.size, reterr)
                                 : problem_set(reterr, status, "cannot make the JSON document");
    text_finish(&text);
    return status;
}

enum status bench_output_prepare(const char *folder, struct problem *reterr)
{
    if ((mkdir(folder, 0777) != 0 && errno != EEXIST) || access(folder, W_OK | X_OK) != 0) {
        return problem_set(reterr, STATUS_IO, "cannot write into the folder %.200s: %s", folder,
                           strerror(errno));
    }
    return STATUS_OK;
}

typedef enum status picture_maker(const struct bench_report *report, struct svg *svg);

static enum status write_picture(const struct bench_report *report, picture_maker *make,
                                 const char *path, struct problem *reterr)
{
    struct svg svg = {0};
    enum status status = make(report, &svg);
    status = status == STATUS_OK ? output_file_save(path, svg.text.bytes, svg.text.size, reterr)
                                 : problem_set(reterr, status, "cannot draw %.200s", path);
    svg_finish(&svg);
    return status;
}

enum status bench_output_folder(const struct bench_report *report, const char *folder,
                                struct problem *reterr)
{
    static const struct {
        const char *name;
        picture_maker *make;
        bool needs_sweep;
    } pictures[] = {
        {"speed.svg", bench_picture_speed, false},
        {"roofline.svg", bench_picture_roofline, false},
        {"heat_map.svg", bench_heat_draw, true},
    };
    char *path = NULL;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sizeof pictures / sizeof pictures[0] && status == STATUS_OK; ++i) {
        if (pictures[i].needs_sweep && report->product_count == 0) {
            continue;
        }
        if (asprintf(&path, "%s/%s", folder, pictures[i].name) < 0) {
            return STATUS_NO_MEMORY;
        }
        status = write_picture(report, pictures[i].make, path, reterr);
        free(path);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (asprintf(&path, "%s/bench.json", folder) < 0) {
        return STATUS_NO_MEMORY;
    }
    status = bench_output_json(report, path, reterr);
    free(path);
    return status;
}
