// Made by generate_types.py from the service's /openapi.json.

export type Column = {
  destination: Vertex;
  sources: Vertex[];
  distances: Distance[];
};

/** A graph in compact JSON. */
export type CompactGraph = {
  /** The number of vertices, named 0 to n-1. */
  n: number;
  /** Source, target and the weight, which may be omitted if it is 1. */
  edges: [number, number, (number)?][];
  directed?: boolean;
};

export type Devices = {
  devices: {
    /** Whether the device's solver accepts jobs: `restarting` while a new process replaces a failed process; `lost` while a process that was killed does not exit, because a driver call does not return. */
    state: "ready" | "restarting" | "lost";
    /** The number of processes that were started to replace a failed process. */
    restarts: number;
    solver: "gpu" | "cpu";
    name: string;
    memory_bytes: number;
    memory_free_bytes: number;
    /** Multiprocessors of a GPU, or threads of a CPU. */
    units: number;
    detail: string;
    /** CUDA numbers of the host's GPUs. Several GPUs solve one graph together; GPUs that also solve alone are listed separately as well. */
    indexes: number[];
  }[];
  /** The reason why no GPU is used; `null` if a GPU is used. */
  gpu_reason: string | null;
};

/** The length of a shortest path; `null` if there is no path. */
export type Distance = number | null;

export type Distances = {
  distances: Distance[];
};

export type Edges = {
  /** The number of vertices. */
  n: number;
  /** The number of edges. */
  m: number;
  /** Whether edges are directed. */
  directed: boolean;
  /** Source, target and weight of each edge. */
  edges: [Vertex, Vertex, number][];
};

export type Estimate = {
  /** The number of vertices. */
  n: number;
  /** The number of edges. */
  m: number;
  kind: Kind;
  solver: "gpu" | "cpu";
  /** The name of the device. */
  device: string;
  /** Memory on the device. */
  device_bytes: number;
  /** Memory on the host. */
  host_bytes: number;
  /** Space on the disk of the state directory. */
  disk_bytes: number;
  /** Time in seconds to solve the graph as a matrix, without waiting and without a plan, which would be faster for a sparse graph; `null` if the speed was not measured, and for a hierarchy. */
  seconds: number | null;
  result: Result;
  fits: boolean;
  /** The reason why the job does not fit. */
  reason: string | null;
  /** What would make the job fit. */
  hint: string | null;
  limits: {
    /** The maximum number of vertices that fit with this kind. */
    vertex_limit: number;
    /** The maximum number of edges. */
    edge_limit: number;
    /** Free bytes on the disk that holds the state directory. */
    free_disk_bytes: number;
  };
};

export type EstimateRequest = {
  /** The number of vertices. */
  n: number;
  /** The number of edges. */
  m?: number;
  kind?: "auto" | "i4" | "u2" | "f4" | "f8";
} | {
  /** The id or name of a stored graph. */
  graph: string;
  kind?: "auto" | "i4" | "u2" | "f4" | "f8";
};

export type Formats = {
  inputs: {
    /** Value for `format=`. */
    name: string;
    description: string;
    media_types: string[];
    file_endings: string[];
    /** Query parameters that the format accepts. */
    parameters: string[];
    /** Whether the format is detected from the first bytes. */
    sniffed: boolean;
  }[];
  outputs: {
    /** Value for `format=`. */
    name: string;
    description: string;
    media_types: string[];
    file_endings: string[];
  }[];
  /** Content codings of requests and responses. */
  encodings: string[];
};

/** A stored graph. */
export type Graph = {
  /** The SHA-256 of the graph's content: the same graph in another format has the same id. */
  id: string;
  /** Names by which the graph can be addressed. */
  names: string[];
  /** The graph from which this graph was created by a change; `null` for an uploaded graph. */
  parent: string | null;
  created: string;
  /** The number of vertices. */
  n: number;
  /** The number of edges. */
  m: number;
  /** Whether edges are directed. */
  directed: boolean;
  /** The size of the stored file. */
  bytes: number;
  /** The coordinates of the vertices; `null` if there are none. */
  coordinates: {
    system: System;
    /** Vertices with coordinates. */
    located: number;
    /** Vertices without coordinates. */
    missing: number;
  } | null;
  summary: GraphSummary;
  /** The kind of the distances; `null` while the graph is not solved. */
  result: Kind | null;
  /** The latest job. */
  job: string | null;
  input?: Input;
  warnings?: Warnings;
  links: {
    self: Link;
    vertices: Link;
    distance: Link;
    matrix: Link;
    stats: Link;
    job?: Link;
  };
};

export type GraphList = {
  graphs: Graph[];
  /** The cursor of the next page; `null` at the end. */
  next: string | null;
};

/** Figures of the graph. */
export type GraphSummary = {
  /** The number of vertices. */
  n: number;
  /** The number of edges. */
  m: number;
  /** Whether edges are directed. */
  directed: boolean;
  /** The number of self loops that were dropped. */
  loops_dropped: number;
  /** The number of edges that were dropped because a parallel edge is at most as long. */
  parallel_merged: number;
  /** The smallest weight of an edge. */
  min_weight: number | null;
  max_weight: number | null;
  /** Whether a weight is below 0. */
  negative: boolean;
  /** The number of connected components, regardless of the direction of edges. */
  components: number;
  kind: Kind;
  /** The type and unit of the numbers with which distances are computed. Decimal weights are computed as integers; if the unit is 0.01, each distance is then divided once by 100. */
  arithmetic: string;
};

export type HeatMap = {
  /** The number of vertices of the graph. */
  n: number;
  kind: Kind;
  /** Whether cells are estimated from some of their distances. */
  sampled: boolean;
  rows: HeatMapAxis;
  cols: HeatMapAxis;
  /** One object for each row of cells, with one array element for each column. */
  cells: {
    min: Distance[];
    /** Mean of the finite distances, to seven digits; `null` if there are none. */
    mean: (number | null)[];
    max: Distance[];
    /** The fraction of the distances that are infinite, to four digits. */
    unreachable: number[];
  }[];
};

export type HeatMapAxis = {
  /** The first row or column of the block, from 0. */
  first: number;
  /** The first row or column after the block. */
  stop: number;
  /** The first vertex of each cell. */
  vertices: Vertex[];
};

/** How an upload was interpreted. */
export type Input = {
  format: "dimacs" | "mtx" | "metis" | "edges" | "matrix" | "nthu" | "json" | "jgf" | "graphml" | "npy";
  /** Whether the format was detected from the first bytes. */
  guessed: boolean;
  /** How the body was compressed, according to Content-Encoding or its first bytes. */
  encoding: "gzip" | "zstd" | null;
  /** The variant of the format. */
  variant: string | null;
  /** The column or attribute of the weights, or `value` if the format has only one; `null` if every edge has weight 1. */
  weight: string | null;
  /** Whether edges are directed. */
  directed: boolean;
  /** What determined whether edges are directed. */
  directed_by: "default" | "format" | "parameter";
  /** How vertices are named. */
  names: "integers" | "strings";
  /** Size of the body as received. */
  bytes: number;
  /** Size of the decompressed body. */
  decoded_bytes: number;
  /** The number of self loops of this upload that were dropped. */
  loops_dropped: number;
  /** The number of edges of this upload that were dropped because a parallel edge is at most as long. */
  parallel_merged: number;
  /** For a job: whether the result already existed; `timings` are then the times of the solve that computed the result. */
  cached?: boolean;
};

/** The current state of a job. */
export type Job = {
  id: string;
  /** The id of the graph. */
  graph: string;
  /** The name that was given with the job. */
  name?: string;
  state: "queued" | "running" | "done" | "failed" | "cancelled";
  /** The number of jobs ahead of this job in the queue. */
  position: number;
  /** The fraction of the job's time that has passed, over all phases. The value never decreases while the job runs, and is 1 once the job is done. A job that returns to the queue starts again at 0. */
  progress: number;
  /** The phase of a running job, or `null` if the job is not running; the phases occur in the order of this list. */
  phase: "planning" | "solving" | "writing" | "checking" | "publishing" | null;
  /** The number of seconds left: the current phase is extrapolated from its pace, and later phases are estimated from earlier jobs. */
  eta_s: number | null;
  /** Whether the result, or the final state of the job, would survive a crash. */
  durable: boolean;
  /** The graph from which this graph was created by a change. */
  parent?: string;
  /** The GPUs that solved the graph together, and the seconds that each GPU took; absent for a single GPU. */
  devices?: {
    index: number;
    fill_s: number;
    compute_s: number;
    d2h_s: number;
  }[];
  /** The number of solvers that were lost while they ran the job. After three losses the job is not retried and fails with `PoisonJob`. */
  workers_lost: number;
  priority: number;
  /** The time limit that the request set, in seconds. */
  deadline_s?: number;
  created: string;
  started: string | null;
  finished: string | null;
  solver: "gpu" | "cpu" | null;
  /** The name of the device. */
  device: string | null;
  timings: Timings | null;
  plan: Plan | null;
  result?: Result;
  /** `null` after the graph has been deleted. */
  summary: JobSummary | null;
  /** How the upload was interpreted; `null` for a stored graph, unless its result already existed. */
  input: Input | {
    cached: true;
  } | null;
  warnings: Warnings;
  /** A summary of the verification, if the job had `verify=true`. */
  verified?: {
    /** The number of rows that were checked. */
    rows: number;
    /** Seconds that the verification took. */
    seconds: number;
  };
  verification?: Verification;
  /** The `traceparent` that was sent with the job. */
  traceparent?: string;
  /** Why the job failed. */
  problem: Problem | null;
  links: {
    self: Link;
    events: Link;
    graph: Link;
    distance: Link;
    matrix: Link;
    path: Link;
    stats: Link;
  };
};

export type JobList = {
  jobs: Job[];
  /** The cursor of the next page; `null` at the end. */
  next: string | null;
};

/** A stored graph, and how to solve it. */
export type JobRequest = {
  /** The id or name of a stored graph. */
  graph: string;
  kind?: "auto" | "i4" | "u2" | "f4" | "f8";
  /** A name for the graph. */
  name?: string;
  result?: "auto" | "matrix" | "hierarchy";
  priority?: number;
  deadline_s?: number;
  /** The same as the query parameter of this name. */
  wait?: number;
  verify?: boolean;
};

/** Figures of the graph, and the kind of the matrix. */
export type JobSummary = {
  /** The number of vertices. */
  n: number;
  /** The number of edges. */
  m: number;
  /** Whether edges are directed. */
  directed: boolean;
  kind: Kind;
  /** The number of self loops that were dropped. */
  loops_dropped: number;
  /** The number of edges that were dropped because a parallel edge is at most as long. */
  parallel_merged: number;
  /** The smallest weight of an edge. */
  min_weight: number | null;
  max_weight: number | null;
  /** Whether a weight is below 0. */
  negative: boolean;
  /** The number of connected components, regardless of the direction of edges. */
  components: number;
  /** The type and unit of the numbers with which distances are computed. Decimal weights are computed as integers; if the unit is 0.01, each distance is then divided once by 100. */
  arithmetic: string;
};

/** JSON Graph Format, version 1 or 2. */
export type JsonGraph = {
  graph: {
    directed?: boolean;
    nodes?: Record<string, Record<string, unknown>>;
    edges: {
      source: string;
      target: string;
      metadata?: {
        weight?: number;
      };
    }[];
  };
};

/** The elements of a matrix: int32, uint16, float32 or float64. */
export type Kind = "i4" | "u2" | "f4" | "f8";

export type Limits = {
  /** Maximum number of vertices of a graph whose result is a matrix. */
  vertex_limit: number;
  /** Maximum number of vertices of a graph whose result is a hierarchy. */
  hierarchy_vertex_limit: number;
  /** Maximum number of edges of a graph. */
  edge_limit: number;
  /** Largest upload in bytes. */
  body_limit_bytes: number;
  /** Memory in bytes for all uploads in progress, counted by their edges, vertices and names. A tenant may use half of this memory, and an address may use half of its tenant's share; without keys, an address may use half of the total. An upload that needs more than the share of its address is refused with 413. */
  upload_memory_bytes: number;
  /** Largest upload after decompression, in bytes. */
  decoded_limit_bytes: number;
  /** Largest ratio of decompressed to compressed size. */
  decoded_ratio_limit: number;
  /** Largest JSON body that is not a graph. */
  document_limit_bytes: number;
  /** Largest body that lists pairs, in bytes. */
  pairs_limit_bytes: number;
  /** Maximum number of distances in a JSON response. */
  json_cell_limit: number;
  /** Maximum number of edges that `/edges` lists. */
  edge_list_limit: number;
  /** Memory for cached coordinates and the edges used for paths. */
  path_budget_bytes: number;
  /** Longest time in seconds that a request may wait for a job. */
  wait_limit_s: number;
  /** Seconds between heartbeats in an event stream. */
  heartbeat_s: number;
  /** Maximum number of open event streams. */
  watcher_limit: number;
  /** Maximum number of waiting jobs. */
  queue_limit: number;
  /** Maximum number of finished jobs whose documents are stored. */
  history_limit: number;
  /** Maximum size of all results in bytes; 0 means no limit. */
  result_budget_bytes: number;
  /** Maximum number of results. */
  result_limit: number;
  /** Longest estimated time for statistics and heat maps of a hierarchy, in seconds. */
  hierarchy_sweep_limit_s: number;
  /** Maximum number of open connections. */
  connection_limit: number;
  /** Maximum number of open connections from one address; 0 means no limit. */
  address_limit: number;
  /** Number of wrong keys per minute from one address that get 401; further wrong keys get 429. 0 means no limit. */
  wrong_key_limit: number;
  /** Lowest rate, in bytes per second, at which a client must send a body or receive a response. The connection is closed when a body is `header_timeout_s` behind this rate, or when a response is `stall_timeout_s` behind; 0 means no limit. */
  rate_floor: number;
  /** Maximum number of seconds that a client may lag behind `rate_floor`. */
  stall_timeout_s: number;
  /** Seconds that a connection may be idle. */
  connection_timeout_s: number;
  /** Seconds to receive the headers of a request. */
  header_timeout_s: number;
  /** Seconds from the start of a shutdown until running jobs are stopped. */
  drain_s: number;
  /** What determines vertex_limit. */
  vertex_limit_reason: string;
  /** URL template of the map tiles, if `http.tiles` is set. */
  tiles?: string;
  /** Attribution shown under the map. */
  tiles_credit?: string;
};

export type Link = string;

export type Live = {
  live: true;
};

export type Matrix = {
  sources: Vertex[];
  destinations: Vertex[];
  distances: Distance[][];
};

export type NearestPlace = {
  vertex: Vertex;
  lon: number;
  lat: number;
  /** Distance along the great circle, on a sphere of radius 6,371,008.8 m. */
  metres: number;
} | {
  vertex: Vertex;
  x: number;
  y: number;
  distance: number;
};

export type Neighbours = {
  source: Vertex;
  vertices: Vertex[];
  distances: number[];
};

export type NeighboursOfTarget = {
  target: Vertex;
  vertices: Vertex[];
  distances: number[];
};

/** Node-link JSON as NetworkX writes it; `edges` is accepted instead of `links`. */
export type NodeLinkGraph = {
  nodes: {
    id: Vertex;
  }[];
  links: {
    source: Vertex;
    target: Vertex;
    weight?: number;
  }[];
  directed?: boolean;
};

export type OneDistance = {
  source: Vertex;
  target: Vertex;
  distance: Distance;
};

export type Pairs = {
  /** Source and target of each pair. */
  pairs: [Vertex, Vertex][];
};

export type Path = {
  distance: Distance;
  /** Vertices from source to target; empty if there is no path. */
  vertices: Vertex[];
  /** Weights of the edges between the vertices. */
  weights: number[];
};

export type Paths = {
  paths: Path[];
};

/** How the solve was divided to save work. */
export type Plan = {
  kind: "dense" | "nested_dissection";
  /** The number of parts into which the graph is divided. */
  parts: number;
  /** The number of vertices of the largest separator. */
  largest_separator: number;
  /** The work of the plan as a fraction of the work of the dense plan. */
  work_fraction: number;
  /** Seconds of planning. */
  planning_s: number;
  /** Whether the plan, or the decision not to use one, was already known from an earlier graph with the same edges but different weights. */
  cached: boolean;
};

/** RFC 9457. The codes: `BadRequest` (400, the request is malformed), `UnknownParameter` (400, unknown parameter), `BadParameter` (400, invalid parameter value), `Unauthorized` (401, a valid key is required), `Forbidden` (403, the key does not permit this request), `CrossOrigin` (403, the request comes from a page of another origin), `WrongHost` (421, the Host header does not name this service), `NoSuchRoute` (404, there is no such route), `NoSuchGraph` (404, no such graph), `NoSuchJob` (404, no such job), `NoSuchVertex` (404, no such vertex), `MethodNotAllowed` (405, method not allowed), `NotAcceptable` (406, no acceptable representation), `PreconditionFailed` (412, a precondition of the request failed), `LengthRequired` (411, missing Content-Length), `HeadTooLarge` (431, the request headers are too large), `UnsupportedMediaType` (415, unsupported format), `RangeNotSatisfiable` (416, the range is outside the content), `NotSolved` (409, the graph has not been solved yet), `NotAMatrix` (409, the result is a hierarchy), `NoCoordinates` (409, the graph has no coordinates), `JobFinished` (409, the job has already ended), `GraphInUse` (409, the graph is in use), `IdempotencyMismatch` (422, the idempotency key was used with another request), `TooLarge` (413, the graph is too large), `BodyTooLarge` (413, the body is too large), `BadGraph` (422, the graph cannot be read), `EmptyBody` (422, the body is empty), `Truncated` (422, the input ends too early), `WeightRange` (422, the weights exceed the range of the kind), `NegativeCycle` (422, the graph has a negative cycle), `BadCoordinates` (422, the coordinates cannot be read), `QueueFull` (429, the queue is full), `JobQuota` (429, the quota of waiting jobs is used up), `StorageQuota` (507, the storage quota is exhausted), `TooManyWatchers` (429, too many event streams are open), `TooManyUploads` (429, too many uploads at once), `AddressLimit` (429, too many connections from this address), `WrongKeys` (429, too many wrong keys from this address), `ConnectionLimit` (503, too many connections), `Draining` (503, the service is shutting down), `NotReady` (503, the service is not ready), `Cancelled` (409, the job was cancelled), `DeadlineExceeded` (504, the deadline has passed), `NoMemory` (503, not enough memory), `NoDeviceMemory` (503, not enough device memory), `NoDevice` (503, no usable device), `DiskFull` (507, the disk is full), `InputOutput` (500, reading or writing failed), `Corrupt` (500, stored data is damaged), `NotVerified` (500, the result failed verification), `DeviceLost` (503, the device failed), `PoisonJob` (500, every solver that ran the job failed), `Configuration` (500, the configuration is invalid). */
export type Problem = {
  /** `/problems/` followed by the code in lower case. */
  type: string;
  /** The code in words. */
  title: string;
  /** The HTTP status, even for the problem of a job. */
  status: number;
  /** What is wrong in this case. */
  detail: string;
  /** A stable code for programs. */
  code: "BadRequest" | "UnknownParameter" | "BadParameter" | "Unauthorized" | "NoSuchRoute" | "NoSuchGraph" | "NoSuchJob" | "NoSuchVertex" | "MethodNotAllowed" | "NotAcceptable" | "PreconditionFailed" | "LengthRequired" | "HeadTooLarge" | "UnsupportedMediaType" | "RangeNotSatisfiable" | "NotSolved" | "NotAMatrix" | "NoCoordinates" | "BadCoordinates" | "JobFinished" | "GraphInUse" | "IdempotencyMismatch" | "TooLarge" | "BodyTooLarge" | "BadGraph" | "EmptyBody" | "Truncated" | "WeightRange" | "NegativeCycle" | "QueueFull" | "Forbidden" | "CrossOrigin" | "WrongHost" | "JobQuota" | "StorageQuota" | "AddressLimit" | "WrongKeys" | "ConnectionLimit" | "TooManyWatchers" | "TooManyUploads" | "Draining" | "NotReady" | "Cancelled" | "DeadlineExceeded" | "NoMemory" | "NoDeviceMemory" | "NoDevice" | "DiskFull" | "InputOutput" | "Corrupt" | "NotVerified" | "DeviceLost" | "PoisonJob" | "Configuration";
  /** The limit that was exceeded. */
  limit?: number | null;
  /** The actual value, as far as it was read. */
  actual?: number | null;
  /** How to solve the problem. */
  hint?: string;
  /** The line of the body, counted from 1. */
  line?: number;
  /** The column in the line, counted from 1. */
  column?: number;
  /** The index of the list entry in the body, counted from 0. */
  index?: number;
  /** The same as X-Request-Id. */
  request_id?: string;
  /** With `NotSolved`: the job to watch. */
  links?: {
    job: Link;
  };
  /** With `NegativeCycle` of a job: the vertices of a cycle. */
  cycle?: Vertex[];
  /** With `NegativeCycle` of a job: the weight of the cycle. */
  weight?: number;
};

/** The data of a `progress` event. */
export type Progress = {
  id: string;
  state: "queued" | "running" | "done" | "failed" | "cancelled";
  /** The number of jobs ahead of this job in the queue. */
  position: number;
  /** The fraction of the job's time that has passed, over all phases. The value never decreases while the job runs, and is 1 once the job is done. A job that returns to the queue starts again at 0. */
  progress: number;
  /** The phase of a running job, or `null` if the job is not running; the phases occur in the order of this list. */
  phase: "planning" | "solving" | "writing" | "checking" | "publishing" | null;
  /** The number of seconds left: the current phase is extrapolated from its pace, and later phases are estimated from earlier jobs. */
  eta_s: number | null;
};

export type Ready = {
  ready: true;
  /** Present if the request has `verbose`. */
  checks?: {
    /** A solver is open and not restarting. */
    worker: boolean;
    /** The service is shutting down. */
    draining: boolean;
    /** Free places in the queue. */
    queue_free: number;
  };
};

/** The form in which the distances are stored. */
export type Result = {
  kind: "matrix" | "hierarchy";
  /** The size of the file: exact once the job is done, and an estimate before that. */
  bytes: number;
  /** For a hierarchy: the number of arcs that searches may follow. */
  arcs?: number;
  /** The reason why the result has this form. */
  reason: string;
};

export type Row = {
  source: Vertex;
  destinations: Vertex[];
  distances: Distance[];
};

export type Statistics = {
  /** The number of vertices. */
  n: number;
  kind: Kind;
  /** The number of pairs of different vertices with a path. */
  reachable_pairs: number;
  /** The largest distance; 0 if no vertex reaches another vertex, and `null` if the graph has no vertices. */
  diameter: number | null;
  /** The smallest eccentricity of the vertices that reach another vertex; the same as the diameter if no vertex reaches another vertex. */
  radius: number | null;
  mean_distance: number | null;
  /** For each vertex, the largest distance from the vertex; 0 if it reaches no other vertex. */
  eccentricity: number[];
  /** For each vertex, the closeness as NetworkX defines it, but over the distances from the vertex; 0 if the vertex reaches no other vertex. */
  closeness: number[];
  /** For each vertex, the number of other vertices that it reaches. */
  reachable: number[];
  /** Histogram of the finite distances between different vertices. */
  histogram: {
    /** The start of the first bin. */
    min: number;
    bin_width: number;
    counts: number[];
  } | null;
};

/** Longitude and latitude in degrees (WGS 84), or x and y in a plane. */
export type System = "degrees" | "plane";

export type Table = {
  code: "Ok";
  sources: Vertex[];
  destinations: Vertex[];
  distances: Distance[][];
};

export type TableRequest = {
  sources?: Vertex[];
  destinations?: Vertex[];
};

/** The seconds of each phase. */
export type Timings = {
  /** Waiting in the queue. */
  queue_s: number;
  /** Reading the upload. */
  parse_s: number;
  /** Filling a matrix with the edges. */
  fill_s: number;
  /** Copying to the device. */
  h2d_s: number;
  /** Solving. */
  compute_s: number;
  /** Copying from the device. */
  d2h_s: number;
  /** Writing the result. */
  write_s: number;
  /** From acceptance to the end of the job. */
  total_s: number;
};

/** The proof that the matrix is correct. */
export type Verification = {
  /** The number of rows that were checked. */
  rows: number;
  /** The total number of rows of the matrix. */
  of: number;
  /** The number of edges that each row was checked against. */
  edges: number;
  on: "host";
  checks: ("zero_diagonal" | "edges_relaxed" | "tight_last_edge" | "tight_path")[];
  /** The relative tolerance of the verification for floating-point distances; 0 means exact. */
  tolerance: number;
  /** Seconds that the verification took. */
  seconds: number;
};

export type Version = {
  version: string;
  /** The commit of the build; empty if the build did not know it. */
  commit: string;
  api: "v1";
  build: {
    /** Whether the GPU solver is built in. */
    cuda: boolean;
  };
};

/** The name of a vertex as in the file: an integer or a string. */
export type Vertex = number | string;

export type Vertices = {
  vertices: Vertex[];
};

/** Warnings about the upload: what the service assumed or left out, why the assumption may be wrong, and how to change it. Warnings do not stop a job. There is at most one warning of each code. */
export type Warnings = {
  /** `DirectedAssumed`: an edge list, a text matrix or JSON does not say whether it is directed, and no edge has its reverse. `ColumnsUnused`: the graph does not use some columns. `ParallelMerged`: parallel edges had different weights. `FormatGuessed`: columns or dialect were guessed. `ZerosAreEdges`: each 0 of an array is an edge, and no edge is missing. `NameMoved`: another graph has lost the name. `EdgesAbsent`: a change removes edges that do not exist. `WeightsAbsent`: each edge has weight 1, although there are unused columns. `HeaderGuessed`: the first line was read as a header, but its names are unknown. `AllWeightsZero`: every weight is 0. `DirectionsRead`: `oneway` or `reverse_cost` was read. `NegativeCosts`: all negative weights of a matrix, or of a column `cost`, are -1, which often marks a missing edge. `KindChanged`: a change of weights needs a wider kind or more decimals. `Rounded`: `kind=f4` has fewer digits than a distance may need. */
  code: "DirectedAssumed" | "ColumnsUnused" | "ParallelMerged" | "FormatGuessed" | "ZerosAreEdges" | "NameMoved" | "EdgesAbsent" | "WeightsAbsent" | "HeaderGuessed" | "AllWeightsZero" | "DirectionsRead" | "NegativeCosts" | "KindChanged" | "Rounded";
  detail: string;
  /** The parameter that changes the assumption, or another way to change it. */
  hint: string;
  /** For `ColumnsUnused` and `WeightsAbsent`: the names of the first unused columns. */
  columns?: string[];
}[];
