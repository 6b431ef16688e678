/* Requests that only read or delete: lists, documents of jobs and graphs, results, estimates,
 * deletion of a graph. Loop thread. */
#pragma once

#include "server/scheduler/calls.h"

void requests_list_jobs(struct scheduler *scheduler, struct call *call);
void requests_list_graphs(struct scheduler *scheduler, struct call *call);
void requests_show_job(struct scheduler *scheduler, struct call *call);
void requests_show_graph(struct scheduler *scheduler, struct call *call);
void requests_delete_graph(struct scheduler *scheduler, struct call *call);
void requests_call_result(struct scheduler *scheduler, struct call *call);
void requests_note_damage(struct scheduler *scheduler, struct call *call);
void requests_estimate(struct scheduler *scheduler, struct call *call);
