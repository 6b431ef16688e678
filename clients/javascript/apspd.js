// Client of apspd for browsers and for Node 18 or newer. It needs only fetch. See README.md.
// @ts-check

/** @typedef {import("./openapi.js").Job} Job */
/** @typedef {import("./openapi.js").Vertex} Vertex */

const DEFAULT_URL = "http://127.0.0.1:8080";
// Pauses in seconds before a request without a response is repeated. Every request may be repeated: a
// submission has an idempotency key, with which the service returns the same job again.
const BREAK_PAUSES_S = [0.1, 0.3, 1, 2];
// Seconds that one request waits for a job; the client then repeats it. The service allows 60.
const WAIT_S = 30;
const ARRAYS = { i4: Int32Array, u2: Uint16Array, f4: Float32Array, f8: Float64Array };
const UNREACHABLE = { i4: 1073741823, u2: 65535, f4: Infinity, f8: Infinity };

/** The service refused the request, or the job failed. `problem` is the problem document (RFC 9457). */
export class ServiceError extends Error {
  /** @param {any} problem  @param {Job} [job] */
  constructor(problem, job) {
    super([`${problem.code}: ${problem.detail ?? problem.title}`, problem.hint].filter(Boolean).join(" "));
    this.name = "ServiceError";
    this.problem = problem;
    this.code = String(problem.code);
    this.status = Number(problem.status);
    this.job = job;
  }
}

/** @param {Response} answer */
async function errorOf(answer) {
  const text = await answer.text();
  let problem;
  try {
    problem = JSON.parse(text);
  } catch {
    problem = null;
  }
  if (problem === null || typeof problem !== "object") {
    problem = { code: `Http${answer.status}`, detail: text.slice(0, 200) };
  }
  const hint = answer.status === 401 ? { hint: "Pass a valid key: new Client(url, { key }). In Node, the key can be process.env.APSPD_KEY." } : {};
  return new ServiceError({ ...problem, ...hint, status: answer.status });
}

/** Returns the JSON object in a response. @param {Response} answer @returns {Promise<any>} */
async function documentOf(answer) {
  const document = await answer.json().catch(() => null);
  if (document === null || typeof document !== "object" || Array.isArray(document)) {
    throw new ServiceError({ code: "UnexpectedAnswer", status: answer.status, detail: "The response is not what apspd returns for this request." });
  }
  return document;
}

/** Returns a CSV field, in quotes if needed: spaces at its ends count only in quotes. @param {unknown} value */
function fieldOf(value) {
  return /[",\r\n]|^\s|\s$/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value);
}

// Returns an idempotency key, which must be unique but not secret. Math.random is used because Node 18 has
// no global crypto, and insecure pages have no randomUUID.
function makeKey() {
  return Array.from({ length: 16 }, () => Math.floor(256 * Math.random()).toString(16).padStart(2, "0")).join("");
}

/** @param {number} seconds  @param {AbortSignal} [signal]  @returns {Promise<void>} */
function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, seconds * 1000);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** Returns the document as JSON, in which a BigInt is a number. @param {any} document */
function jsonOf(document) {
  const text = JSON.stringify(document, (_, value) => (typeof value === "bigint" ? `\u0000${value}` : value));
  return text.replace(/"\\u0000(-?\d+)"/g, "$1");
}

/** Returns the vertex. Refuses a number beyond 2^53, because it may already be rounded. @param {Vertex | bigint} vertex */
function vertexOf(vertex) {
  if (Number.isInteger(vertex) && !Number.isSafeInteger(vertex)) {
    throw new TypeError(`The vertex ${vertex} is not a safe integer: pass a BigInt or a string.`);
  }
  return vertex;
}

/** Returns the body for a graph, and the Content-Type, which names the format if the bytes do not show it.
 * @param {any} graph */
function bodyOf(graph) {
  if (typeof graph === "string" || graph instanceof Blob || graph instanceof ArrayBuffer || ArrayBuffer.isView(graph)) {
    return { body: graph, type: "application/octet-stream" };
  }
  /** @type {{edges: [Vertex, Vertex, number?][], nodes?: Vertex[], directed?: boolean}} */
  const { edges, nodes, directed } = Array.isArray(graph) ? { edges: graph } : graph;
  if (!Array.isArray(edges)) {
    throw new TypeError("A graph must be a list of edges, {edges, nodes}, a string, a Blob or bytes.");
  }
  /** @type {Set<Vertex | bigint>} */
  const names = new Set(nodes);
  const links = edges.map(([source, target, weight = 1]) => {
    if (!Number.isFinite(weight)) {
      throw new TypeError(`The weight ${weight} of the edge from ${source} to ${target} is not a finite number.`);
    }
    names.add(vertexOf(source)).add(vertexOf(target));
    return { source, target, weight };
  });
  const document = { directed: directed ?? true, nodes: Array.from(names, (id) => ({ id })), links };
  return { body: jsonOf(document), type: "application/json" };
}

/** @param {number | null} distance */
function distanceOf(distance) {
  return distance ?? Infinity;
}

export class Client {
  /** @param {string} [url]  @param {{key?: string, patience?: number, fetch?: typeof fetch}} [options] */
  constructor(url = DEFAULT_URL, options = {}) {
    this.url = url.replace(/\/+$/, "");
    this.key = options.key;
    this.patience = options.patience ?? 120;
    this.fetch = options.fetch ?? ((address, more) => fetch(address, more));
  }

  /** Returns the response to a request, after several attempts if necessary; throws ServiceError if the service
   * refuses the request.
   * @param {string} method  @param {string} path  @param {any} options  @returns {Promise<Response>} */
  async ask(method, path, { query = {}, headers = {}, body = undefined, signal = undefined } = {}) {
    const known = Object.entries(query).filter(([, value]) => value !== undefined);
    const search = new URLSearchParams(known.map(([name, value]) => [name, String(value)]));
    const address = `${this.url}${path}${known.length > 0 ? `?${search}` : ""}`;
    const all = this.key === undefined ? headers : { ...headers, Authorization: `Bearer ${this.key}` };
    for (let waited = 0, breaks = 0; ; ) {
      let seconds;
      try {
        const answer = await this.fetch(address, { method, headers: all, body, signal });
        if (answer.ok) {
          return answer;
        }
        seconds = Number(answer.headers.get("Retry-After") ?? 1) || 1;
        waited += seconds;
        if ((answer.status !== 429 && answer.status !== 503) || waited > this.patience) {
          throw await errorOf(answer);
        }
      } catch (error) {
        // fetch throws a TypeError if there is no response.
        if (!(error instanceof TypeError)) {
          throw error;
        }
        if (breaks === BREAK_PAUSES_S.length) {
          const words = "Is apspd running there? If the page has another origin, http.cors_origins must list that origin.";
          const failed = new Error(`No response from ${this.url}: ${error.message}. ${words}`, { cause: error });
          throw Object.assign(failed, { code: "ConnectionFailed" });
        }
        seconds = BREAK_PAUSES_S[breaks];
        breaks += 1;
      }
      await pause(seconds, signal);
    }
  }

  /** @param {string} path  @param {any} document  @param {any} [options] */
  async send(path, document, options = {}) {
    const headers = { "Content-Type": "application/json", ...options.headers };
    const method = options.method ?? "POST";
    return documentOf(await this.ask(method, path, { ...options, headers, body: jsonOf(document) }));
  }

  /** @param {any} graph  @param {any} options */
  async submit(graph, { signal, onProgress, ...query } = {}) {
    const { body, type } = bodyOf(graph);
    const headers = { "Content-Type": type, "Idempotency-Key": makeKey() };
    const answer = await this.ask("POST", "/v1/jobs", { query, headers, body, signal });
    return new Result(this, await documentOf(answer));
  }

  /** @param {any} graph  @param {any} [options] */
  async solve(graph, options = {}) {
    return (await this.submit(graph, options)).wait(options);
  }

  /** @param {string} graph  @param {any} [options] */
  async result(graph, options = {}) {
    const path = `/v1/graphs/${encodeURIComponent(graph)}`;
    const document = await documentOf(await this.ask("GET", path, { signal: options.signal }));
    const id = graph.startsWith("j_") ? graph : document.job;
    const headers = { "Idempotency-Key": makeKey() };
    const job = id
      ? await documentOf(await this.ask("GET", `/v1/jobs/${id}`, { signal: options.signal }))
      : await this.send("/v1/jobs", { graph: document.id }, { headers, signal: options.signal });
    return new Result(this, /^[gj]_/.test(graph) ? job : { ...job, name: graph }).wait(options);
  }

  /** Returns all documents of a list, newest first. @param {"graphs" | "jobs"} kind  @param {any} query */
  async list(kind, query) {
    const found = [];
    for (let cursor; ; ) {
      const page = await documentOf(await this.ask("GET", `/v1/${kind}`, { query: { limit: 1000, ...query, cursor } }));
      found.push(...page[kind]);
      cursor = page.next ?? undefined;
      if (cursor === undefined) { // a filtered page may be empty although more pages follow
        return found;
      }
    }
  }

  /** @param {any} [query] */
  graphs(query) {
    return this.list("graphs", query);
  }

  /** @param {any} [query] */
  jobs(query) {
    return this.list("jobs", query);
  }

  /** @param {string | {n: number, m: number}} graph */
  estimate(graph) {
    return this.send("/v1/estimate", typeof graph === "string" ? { graph } : graph);
  }

  /** @param {string} graph */
  async delete(graph) {
    await this.ask("DELETE", `/v1/graphs/${encodeURIComponent(graph)}`);
  }
}

export class Result {
  /** @param {Client} client  @param {Job} job */
  constructor(client, job) {
    this.client = client;
    this.job = job;
    this.name = job.name;
  }

  get graph() {
    return this.job.graph;
  }

  get kind() {
    return this.summary().kind;
  }

  get warnings() {
    return this.job.warnings;
  }

  /** The element of matrix() that means that there is no path. */
  get unreachable() {
    return UNREACHABLE[this.kind];
  }

  summary() {
    if (this.job.summary === null) {
      throw new Error(`The graph ${this.job.graph} was deleted.`);
    }
    return this.job.summary;
  }

  /** @param {{signal?: AbortSignal, onProgress?: (job: Job) => void}} options  @returns {Promise<this>} */
  async wait({ signal, onProgress } = {}) {
    while (this.job.state === "queued" || this.job.state === "running") {
      onProgress?.(this.job);
      // With onProgress, the client asks for the progress every second.
      const query = { wait: onProgress ? 1 : WAIT_S };
      this.job = await (await this.client.ask("GET", `/v1/jobs/${this.job.id}`, { query, signal })).json();
    }
    onProgress?.(this.job);
    if (this.job.state !== "done") {
      const cancelled = { code: "Cancelled", detail: "The job was cancelled.", status: 409 };
      throw new ServiceError(this.job.problem ?? cancelled, this.job);
    }
    return this;
  }

  /** Waits until the job is done, and returns the response to a query. The query names the job, because the kind
   * of its result is known.
   * @param {string} path  @param {any} [query]  @param {any} [document]  @returns {Promise<any>} */
  async ask(path, query, document) {
    await this.wait();
    const address = `/v1/graphs/${this.job.id}${path}`;
    const headers = { Prefer: "wait=60" };
    if (document !== undefined) {
      return this.client.send(address, document, { headers });
    }
    return (await this.client.ask("GET", address, { query, headers })).json();
  }

  async vertices() {
    return (await this.ask("/vertices")).vertices;
  }

  /** @param {Vertex} source  @param {Vertex} target */
  async distance(source, target) {
    return distanceOf((await this.ask("/distance", { source, target })).distance);
  }

  /** @param {[Vertex, Vertex][]} pairs */
  async pairs(pairs) {
    return (await this.ask("/distances", {}, { pairs })).distances.map(distanceOf);
  }

  /** @param {Vertex[]} [sources]  @param {Vertex[]} [destinations] */
  async table(sources, destinations) {
    const found = await this.ask("/table", {}, { sources, destinations });
    return found.distances.map((/** @type {(number | null)[]} */ row) => row.map(distanceOf));
  }

  /** @param {Vertex} source */
  async row(source) {
    return (await this.ask(`/row/${encodeURIComponent(source)}`, { format: "json" })).distances.map(distanceOf);
  }

  /** @param {Vertex} source  @param {Vertex} target */
  async path(source, target) {
    const found = await this.ask("/path", { source, target });
    return { ...found, distance: distanceOf(found.distance) };
  }

  /** @param {any} source  @param {number} [k]  @returns {Promise<any>} */
  async nearest(source, k = 1) {
    if (source !== null && typeof source === "object") {
      return (await this.ask("/nearest", source)).vertex;
    }
    const found = await this.ask("/nearest", { source, k });
    return found.vertices.map((/** @type {Vertex} */ vertex, /** @type {number} */ at) => ({ vertex, distance: found.distances[at] }));
  }

  /** @param {Vertex} source  @param {number} max */
  async within(source, max) {
    const found = await this.ask("/within", { source, max });
    return found.vertices.map((/** @type {Vertex} */ vertex, /** @type {number} */ at) => ({ vertex, distance: found.distances[at] }));
  }

  /** @param {Vertex} source  @param {any} what  @returns {Promise<any>} */
  async geojson(source, what) {
    await this.wait();
    const path = "target" in what ? "path" : "max" in what ? "within" : "nearest";
    const headers = { Accept: "application/geo+json", Prefer: "wait=60" };
    return documentOf(await this.client.ask("GET", `/v1/graphs/${this.job.id}/${path}`, { query: { source, ...what }, headers }));
  }

  /** @param {[Vertex, number, number][]} places  @param {{plane?: boolean}} options */
  async setCoordinates(places, { plane = false } = {}) {
    await this.wait();
    const lines = [["vertex", ...(plane ? ["x", "y"] : ["lon", "lat"])], ...places].map((row) => `${row.map(fieldOf).join(",")}\n`);
    const headers = { "Content-Type": "text/csv" };
    await this.client.ask("PUT", `/v1/graphs/${this.job.id}/coordinates`, { headers, body: lines.join("") });
  }

  stats() {
    return this.ask("/stats");
  }

  /** Returns the matrix or a part of it as one array, row by row. The maximum size of an array limits the part.
   * @param {{rows?: string, cols?: string}} part */
  async matrix({ rows, cols } = {}) {
    await this.wait();
    const address = `/v1/graphs/${this.job.id}/matrix`;
    const query = { rows, cols, format: "raw" };
    const answer = await this.client.ask("GET", address, { query, headers: { Prefer: "wait=60" } });
    const [height, width] = String(answer.headers.get("X-Matrix-Shape")).split(",").map(Number);
    return { rows: height, cols: width, data: new ARRAYS[this.kind](await answer.arrayBuffer()) };
  }

  /** @param {[Vertex, Vertex, number | null][]} edges  @param {any} options  @returns {Promise<this>} */
  async update(edges, { signal, onProgress, ...query } = {}) {
    await this.wait({ signal });
    /** @type {Record<string, string>} */
    const headers = { "Idempotency-Key": makeKey() };
    if (this.name !== undefined) {
      headers["If-Match"] = `"${this.graph}"`;
    }
    const path = `/v1/graphs/${encodeURIComponent(this.name ?? this.graph)}/edges`;
    const job = await this.client.send(path, edges, { method: "PATCH", query, headers, signal });
    this.job = (await new Result(this.client, job).wait({ signal, onProgress })).job;
    return this;
  }

  async cancel() {
    this.job = await documentOf(await this.client.ask("DELETE", `/v1/jobs/${this.job.id}`));
  }

  async delete() {
    await this.client.ask("DELETE", `/v1/graphs/${this.graph}`);
  }
}
