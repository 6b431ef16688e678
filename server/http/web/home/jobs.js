// The list of jobs with their progress; active jobs can be cancelled.

import { byId, make, say, seconds, percent, count, plural } from "./dom.js";
import { ask, watch, isLocked, isGone, isOver, spent, tell } from "./service.js";
import { describe, guard } from "./problem.js";

const SHOWN = 30;
// A browser opens six connections to a host; most are left for queries.
const STREAMS = 2;

const entries = new Map(); // by job id
const watched = new Map();
let onOpen = () => {};
let wanted = null; // job whose graph is shown once it is solved

function titleOf(job) {
  return job.name ?? job.graph.slice(0, 10);
}

// The current phase of a job in words.
function phaseOf(job) {
  if (job.state === "queued") return job.position === 0 ? "next in the queue" : `${plural(job.position, "job")} ahead`;
  return `${job.phase ?? "planning"}, ${percent(job.progress)}`;
}

function wordsOf(job) {
  const words = isOver(job) ? [] : [phaseOf(job)];
  if (!isOver(job) && job.eta_s !== null && job.eta_s !== undefined) words.push(`${seconds(job.eta_s)} left`);
  if (job.state === "done" && job.summary) words.push(`${count(job.summary.n)} vertices`);
  if (job.state === "done" && job.input?.cached) words.push("already solved");
  else if (job.state === "done" && job.timings && spent(job.timings) > 0) words.push(seconds(spent(job.timings)));
  if (job.state === "failed" && job.problem) words.push(job.problem.title);
  return words.join(" · ");
}

class Entry {
  constructor(job) {
    this.bar = make("progress", { max: "1" });
    this.words = make("span", { class: "words" });
    this.badge = make("span", { class: "badge" });
    this.open = make("button", { type: "button", class: "link name", onclick: () => onOpen(this.job) });
    this.cancel = make("button", { type: "button", onclick: () => this.stop() }, "Cancel");
    this.problem = make("div");
    this.element = make("li", { class: "job entry", "data-job": job.id },
      make("div", { class: "line" }, this.badge, this.open, this.cancel), this.bar, this.words, this.problem);
    this.update(job);
  }

  update(job) {
    const before = this.job;
    this.job = { ...this.job, ...job };
    const now = this.job;
    const title = titleOf(now);
    this.element.dataset.state = now.state;
    say(this.badge, now.state);
    say(this.open, title);
    say(this.words, wordsOf(now));
    this.open.disabled = now.state === "cancelled";
    this.cancel.hidden = this.bar.hidden = isOver(now);
    this.cancel.setAttribute("aria-label", `Cancel ${title}`);
    this.bar.setAttribute("aria-label", `Progress of ${title}`);
    this.bar.value = now.progress ?? 0;
    if (before !== undefined && before.state !== now.state) say(byId("news"), `${title}: ${now.state}`);
  }

  async stop() {
    const answer = await guard(this.problem, () =>
      ask(`/v1/jobs/${this.job.id}`, { method: "DELETE", told: true }));
    if (answer) note(answer);
  }
}

function arrange() {
  const sorted = [...entries.values()].sort((a, b) => (a.job.created < b.job.created ? 1 : -1));
  for (const entry of sorted.splice(SHOWN)) {
    entry.element.remove();
    entries.delete(entry.job.id);
  }
  const list = byId("jobs");
  sorted.forEach((entry, index) => {
    if (list.children[index] !== entry.element) list.insertBefore(entry.element, list.children[index] ?? null);
  });
  byId("no-jobs").hidden = sorted.length > 0;
}

// The service has forgotten the job.
function forget(id) {
  entries.get(id)?.element.remove();
  entries.delete(id);
}

function follow() {
  const active = [...entries.values()].map((entry) => entry.job).filter((job) => !isOver(job));
  const rank = (job) => (job.state === "running" ? 0 : job.id === wanted ? 1 : 2);
  active.sort((a, b) => rank(a) - rank(b));
  for (const job of active) {
    if (watched.size >= STREAMS || watched.has(job.id)) continue;
    const end = new AbortController();
    watched.set(job.id, end);
    watch(job.id, note, end.signal).catch(() => forget(job.id)).finally(() => {
      watched.delete(job.id);
      refreshJobs();
    });
  }
}

function note(job) {
  const entry = entries.get(job.id);
  const changed = entry === undefined || entry.job.state !== job.state;
  if (entry === undefined) {
    if (job.created === undefined) return;
    entries.set(job.id, new Entry(job));
    arrange();
  } else {
    entry.update(job);
  }
  if (job.id === wanted && isOver(job)) {
    wanted = null;
    if (job.state === "done") onOpen(entries.get(job.id).job);
    if (job.problem && job.state === "failed") {
      const place = entries.get(job.id).job.parent ? "edge-problem" : "submit-problem";
      byId(place).replaceChildren(describe(job.problem));
    }
  }
  tell("jobs", currentJobs());
  if (!changed) return;
  tell("changed");
  follow();
}

export function currentJobs() {
  return [...entries.values()].map((entry) => entry.job);
}

// Adds a job that was submitted on this page.
export function addJob(job) {
  wanted = job.id;
  note(job);
}

export function stopWaiting() {
  wanted = null;
}

// Clears the jobs after a change of the key.
export function forgetJobs() {
  for (const end of watched.values()) end.abort();
  for (const id of [...entries.keys()]) forget(id);
  wanted = null;
  arrange();
}

export async function refreshJobs() {
  const list = await guard(byId("jobs-problem"), () => ask(`/v1/jobs?limit=${SHOWN}`));
  for (const job of list?.jobs ?? []) note(job);
  tell("jobs", currentJobs());
  follow();
}

export function startJobs(open) {
  onOpen = open;
  // No event announces the jobs of other clients, so poll.
  const look = () => { if (!document.hidden && !isLocked() && !isGone()) refreshJobs(); };
  setInterval(look, 10000);
  document.addEventListener("visibilitychange", look);
}
