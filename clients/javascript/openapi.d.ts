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
  /** Source, target and, unless it is 1, the weight. */
  edges: [number, number, (number)?][];
  directed?: boolean;
};

export type Devices = {
  devices: {
    /** Whether its solver takes jobs: `restarting` while another process is started in place of one that failed, `lost` while one that failed has been killed and does not end, as a call of its driver does not return. */
    state: "ready" | "restarting" | "lost";
    /** Processes that were started in place of one that failed. */
    restarts: number;
    solver: "gpu" | "cpu";
    name: string;
    memory_bytes: number;
    memory_free_bytes: number;
    /** Multiprocessors, or threads. */
    units: number;
    detail: string;
    /** Which GPUs of the host, by CUDA's numbers: several solve one graph together, and are also listed alone where they do that too. */
    indexes: number[];
  }[];
  /** Why no GPU is used; `null` where one is. */
  gpu_reason: string | null;
};

/** The length of a shortest path; `null` where there is none. */
export type Distance = number | null;

export type Distances = {
  distances: Distance[];
};

export type Edges = {
  /** Vertices. */
  n: number;
  /** Edges. */
  m: number;
  /** Whether edges go one way. */
  directed: boolean;
  /** Source, target and weight of each. */
  edges: [Vertex, Vertex, number][];
};

export type Estimate = {
  /** Vertices. */
  n: number;
  /** Edges. */
  m: number;
  kind: Kind;
  solver: "gpu" | "cpu";
  /** The name of the device. */
  device: string;
  /** Memory on the device. */
  device_bytes: number;
  /** Memory on the host. */
  host_bytes: number;
  /** Of the state directory. */
  disk_bytes: number;
  /** Of the solve as a matrix, without waiting and without a plan, which takes a sparse graph less; `null` where nothing was measured, and for a hierarchy. */
  seconds: number | null;
  result: Result;
  fits: boolean;
  /** Why it does not fit. */
  reason: string | null;
  /** What would make it fit. */
  hint: string | null;
  limits: {
    /** Vertices that fit in this kind. */
    vertex_limit: number;
    /** Edges that are taken. */
    edge_limit: number;
    /** Free on the disk of the state directory. */
    free_disk_bytes: number;
  };
};

export type EstimateRequest = {
  /** Vertices. */
  n: number;
  /** Edges. */
  m?: number;
  kind?: "auto" | "i4" | "u2" | "f4" | "f8";
} | {
  /** The id or name of a stored graph. */
  graph: string;
  kind?: "auto" | "i4" | "u2" | "f4" | "f8";
};

export type Formats = {
  inputs: {
    /** For `format=`. */
    name: string;
    description: string;
    media_types: string[];
    file_endings: string[];
    /** Query parameters that it takes. */
    parameters: string[];
    /** Whether it is told by its first bytes. */
    sniffed: boolean;
  }[];
  outputs: {
    /** For `format=`. */
    name: string;
    description: string;
    media_types: string[];
    file_endings: string[];
  }[];
  /** Of bodies, both ways. */
  encodings: string[];
};

/** A stored graph. */
export type Graph = {
  /** The SHA-256 of what it means: the same graph in another format has the same id. */
  id: string;
  /** By which it can be asked for. */
  names: string[];
  /** The graph that it is a change of; `null` for one that was uploaded. */
  parent: string | null;
  created: string;
  /** Vertices. */
  n: number;
  /** Edges. */
  m: number;
  /** Whether edges go one way. */
  directed: boolean;
  /** Of its file. */
  bytes: number;
  /** Those that it was given; `null` without. */
  coordinates: {
    system: System;
    /** Vertices with a place. */
    located: number;
    /** Those without one. */
    missing: number;
  } | null;
  summary: GraphSummary;
  /** The kind of the matrix that answers; `null` while there is none. */
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
  /** The cursor of what follows; `null` at the end. */
  next: string | null;
};

/** The graph in figures. */
export type GraphSummary = {
  /** Vertices. */
  n: number;
  /** Edges. */
  m: number;
  /** Whether edges go one way. */
  directed: boolean;
  /** Self loops that were left out. */
  loops_dropped: number;
  /** Edges left out beside a shorter one between the same vertices. */
  parallel_merged: number;
  /** Of the edges. */
  min_weight: number | null;
  max_weight: number | null;
  /** Whether a weight is below 0. */
  negative: boolean;
  /** Connected components, whatever the direction of edges. */
  components: number;
  kind: Kind;
  /** The numbers in which distances are computed: of decimals integers, times the power of ten by which each distance is divided once. */
  arithmetic: string;
};

export type HeatMap = {
  /** Vertices of the graph. */
  n: number;
  kind: Kind;
  /** Whether some distances were not looked at. */
  sampled: boolean;
  rows: HeatMapAxis;
  cols: HeatMapAxis;
  /** A member for each row of cells, its arrays along the columns. */
  cells: {
    min: Distance[];
    /** Of the finite distances, to seven digits; `null` where there are none. */
    mean: (number | null)[];
    max: Distance[];
    /** The share of the distances that are infinite, to four digits. */
    unreachable: number[];
  }[];
};

export type HeatMapAxis = {
  /** Of the block, from 0. */
  first: number;
  /** The first behind it. */
  stop: number;
  /** The first vertex of each cell. */
  vertices: Vertex[];
};

export type Index = {
  service: "apspd";
  version: string;
  routes: {
    path: string;
    methods: string[];
    /** Of the query. */
    parameters: string[];
  }[];
};

/** What was understood of an upload. */
export type Input = {
  format: "dimacs" | "mtx" | "metis" | "edges" | "matrix" | "nthu" | "json" | "jgf" | "graphml" | "npy";
  /** By the first bytes. */
  guessed: boolean;
  /** How the body was compressed, by Content-Encoding or by its first bytes. */
  encoding: "gzip" | "zstd" | null;
  /** Which form of the format. */
  variant: string | null;
  /** The column or attribute of the weights, `value` where the format has one place for them; `null` where every edge counts 1. */
  weight: string | null;
  /** Whether edges go one way. */
  directed: boolean;
  /** Who said so. */
  directed_by: "default" | "format" | "parameter";
  /** Of the vertices. */
  names: "integers" | "strings";
  /** Of the body as it came. */
  bytes: number;
  /** Of the body decompressed. */
  decoded_bytes: number;
  /** Self loops of this upload that were left out. */
  loops_dropped: number;
  /** Edges of this upload left out beside a shorter one between the same vertices. */
  parallel_merged: number;
  /** Of a job: the result was there already. `timings` are those of the solve that made it. */
  cached?: boolean;
};

/** A job as it stands. */
export type Job = {
  id: string;
  /** The id of the graph. */
  graph: string;
  /** The name given with the job. */
  name?: string;
  state: "queued" | "running" | "done" | "failed" | "cancelled";
  /** Jobs ahead of it in the queue. */
  position: number;
  /** The share of the job's time that has passed, over all phases: never less than it was while the job runs, and 1 once it is done. A job that is put back in the queue begins anew. */
  progress: number;
  /** What a running job is at, in this order. Else `null`. */
  phase: "planning" | "solving" | "writing" | "checking" | "publishing" | null;
  /** Seconds that are left: of the phase by the pace of what is done, of later ones as expected. */
  eta_s: number | null;
  /** Whether a crash would keep the result, or the end. */
  durable: boolean;
  /** The graph that this one is a change of. */
  parent?: string;
  /** The GPUs that solved it together, and how long each took; absent where one did. */
  devices?: {
    index: number;
    fill_s: number;
    compute_s: number;
    d2h_s: number;
  }[];
  /** Solvers that failed for good while they had the job: after three it is not tried again, and ends as `PoisonJob`. */
  workers_lost: number;
  priority: number;
  /** As it was asked for. */
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
  /** `null` once the graph is deleted. */
  summary: JobSummary | null;
  /** What was understood of the upload; `null` for a stored graph, unless its result was there already. */
  input: Input | {
    cached: true;
  } | null;
  warnings: Warnings;
  /** In short, with `verify`. */
  verified?: {
    /** Rows that were checked. */
    rows: number;
    /** What it took. */
    seconds: number;
  };
  verification?: Verification;
  /** As it came with the job. */
  traceparent?: string;
  /** Why it failed. */
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
  /** The cursor of what follows; `null` at the end. */
  next: string | null;
};

/** A graph that is stored already, and how to solve it. */
export type JobRequest = {
  /** The id or name of a stored graph. */
  graph: string;
  kind?: "auto" | "i4" | "u2" | "f4" | "f8";
  /** A name to ask for it by. */
  name?: string;
  result?: "auto" | "matrix" | "hierarchy";
  priority?: number;
  deadline_s?: number;
  /** As the parameter. */
  wait?: number;
  verify?: boolean;
};

/** The graph in figures, and the kind of the matrix. */
export type JobSummary = {
  /** Vertices. */
  n: number;
  /** Edges. */
  m: number;
  /** Whether edges go one way. */
  directed: boolean;
  kind: Kind;
  /** Self loops that were left out. */
  loops_dropped: number;
  /** Edges left out beside a shorter one between the same vertices. */
  parallel_merged: number;
  /** Of the edges. */
  min_weight: number | null;
  max_weight: number | null;
  /** Whether a weight is below 0. */
  negative: boolean;
  /** Connected components, whatever the direction of edges. */
  components: number;
  /** The numbers in which distances are computed: of decimals integers, times the power of ten by which each distance is divided once. */
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
  /** Vertices of a graph whose result is a matrix. */
  vertex_limit: number;
  /** Vertices of a graph whose result is a hierarchy. */
  hierarchy_vertex_limit: number;
  /** Edges of a graph. */
  edge_limit: number;
  /** Of an upload. */
  body_limit_bytes: number;
  /** Memory of all uploads at once, each counted by what its edges, vertices and names take; half of it for a tenant, half of that for an address, and half of all for an address without keys. An upload that takes more than the part of its address is 413. */
  upload_memory_bytes: number;
  /** Of an upload, decompressed. */
  decoded_limit_bytes: number;
  /** How often longer decompressed. */
  decoded_ratio_limit: number;
  /** Of a JSON body that is not a graph. */
  document_limit_bytes: number;
  /** Of a body of pairs. */
  pairs_limit_bytes: number;
  /** Distances in one JSON. */
  json_cell_limit: number;
  /** Edges in one list of them. */
  edge_list_limit: number;
  /** For edges that paths are walked on, and coordinates. */
  path_budget_bytes: number;
  /** Seconds that an answer is held. */
  wait_limit_s: number;
  /** Seconds between signs of life in a stream of events. */
  heartbeat_s: number;
  /** Streams of events at once. */
  watcher_limit: number;
  /** Jobs that wait. */
  queue_limit: number;
  /** Jobs that are remembered. */
  history_limit: number;
  /** For results; 0 means no limit. */
  result_budget_bytes: number;
  /** Results. */
  result_limit: number;
  /** Seconds for which statistics and heat maps of a hierarchy may compute, as estimated. */
  hierarchy_sweep_limit_s: number;
  /** Connections. */
  connection_limit: number;
  /** Connections from one address; 0 is all there are. */
  address_limit: number;
  /** Wrong keys from one address in a minute that are answered 401, and not 429; 0 is any number. */
  wrong_key_limit: number;
  /** Bytes a second that a client must send of a body, or take of an answer: it is ended once it is behind by `header_timeout_s`, or by `stall_timeout_s`; 0 is any. */
  rate_floor: number;
  /** Seconds over which `rate_floor` is judged of an answer. */
  stall_timeout_s: number;
  /** Seconds that a connection may be silent. */
  connection_timeout_s: number;
  /** Seconds for the headers of a request. */
  header_timeout_s: number;
  /** Seconds for the running job at the stop. */
  drain_s: number;
  /** What sets vertex_limit. */
  vertex_limit_reason: string;
  /** Addresses of the tiles of a map, if `http.tiles` names a server of them. */
  tiles?: string;
  /** Whose map it is. */
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
  /** Along the great circle, on a sphere of 6,371,008.8 m. */
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

/** Node-link JSON as NetworkX writes it; `edges` in place of `links` will do. */
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
  /** Source and target of each. */
  pairs: [Vertex, Vertex][];
};

export type Path = {
  distance: Distance;
  /** From source to target; empty where there is no path. */
  vertices: Vertex[];
  /** Of the edges between them. */
  weights: number[];
};

export type Paths = {
  paths: Path[];
};

/** How the work was cut down. */
export type Plan = {
  kind: "dense" | "nested_dissection";
  /** Parts that the graph falls into. */
  parts: number;
  /** Vertices of the largest separator. */
  largest_separator: number;
  /** What is left of the dense solve's work. */
  work_fraction: number;
  /** What planning took. */
  planning_s: number;
  /** Whether the plan, or that none pays, was known: kept from a graph with the same edges and other weights, or found while the job waited. */
  cached: boolean;
};

/** RFC 9457. The codes: `BadRequest` (400, the request is malformed), `UnknownParameter` (400, unknown parameter), `BadParameter` (400, bad value of a parameter), `Unauthorized` (401, a valid key is required), `Forbidden` (403, the key does not allow this), `CrossOrigin` (403, the request comes from a page of another origin), `WrongHost` (421, the service does not go by this name), `NoSuchRoute` (404, there is nothing at this address), `NoSuchGraph` (404, no such graph), `NoSuchJob` (404, no such job), `NoSuchVertex` (404, no such vertex), `MethodNotAllowed` (405, method not allowed here), `NotAcceptable` (406, no acceptable representation), `PreconditionFailed` (412, the condition of the request is false), `LengthRequired` (411, content-Length is required), `HeadTooLarge` (431, the head of the request is too large), `UnsupportedMediaType` (415, unsupported format), `RangeNotSatisfiable` (416, range outside the content), `NotSolved` (409, the graph is not solved yet), `NotAMatrix` (409, the result is a hierarchy), `NoCoordinates` (409, the graph has no coordinates), `JobFinished` (409, the job has ended already), `GraphInUse` (409, the graph is in use), `IdempotencyMismatch` (422, the idempotency key was used with another request), `TooLarge` (413, the graph is too large), `BodyTooLarge` (413, the body is too large), `BadGraph` (422, the graph cannot be read), `EmptyBody` (422, there is nothing in the body), `Truncated` (422, the graph ends too early), `WeightRange` (422, weights leave the range of the kind), `NegativeCycle` (422, the graph has a negative cycle), `BadCoordinates` (422, the coordinates cannot be read), `QueueFull` (429, the queue is full), `JobQuota` (429, the quota of waiting jobs is used up), `StorageQuota` (507, the quota of stored bytes is used up), `TooManyWatchers` (429, too many streams of events are open), `TooManyUploads` (429, too many graphs come in at once), `AddressLimit` (429, too many connections from this address), `WrongKeys` (429, too many wrong keys from this address), `ConnectionLimit` (503, too many connections), `Draining` (503, the service is shutting down), `NotReady` (503, the service is not ready), `Cancelled` (409, the job was cancelled), `DeadlineExceeded` (504, the deadline has passed), `NoMemory` (503, not enough memory), `NoDeviceMemory` (503, not enough device memory), `NoDevice` (503, no usable device), `DiskFull` (507, the disk is full), `InputOutput` (500, reading or writing failed), `Corrupt` (500, stored data is damaged), `NotVerified` (500, the result failed its verification), `DeviceLost` (503, the device failed), `PoisonJob` (500, the job ended every solver that tried it), `Configuration` (500, the configuration is wrong). */
export type Problem = {
  /** `/problems/` and the code in lower case. */
  type: string;
  /** The code in words. */
  title: string;
  /** The HTTP status, also where the problem is a job's. */
  status: number;
  /** What is wrong here. */
  detail: string;
  /** Stable: for programs. */
  code: "BadRequest" | "UnknownParameter" | "BadParameter" | "Unauthorized" | "NoSuchRoute" | "NoSuchGraph" | "NoSuchJob" | "NoSuchVertex" | "MethodNotAllowed" | "NotAcceptable" | "PreconditionFailed" | "LengthRequired" | "HeadTooLarge" | "UnsupportedMediaType" | "RangeNotSatisfiable" | "NotSolved" | "NotAMatrix" | "NoCoordinates" | "BadCoordinates" | "JobFinished" | "GraphInUse" | "IdempotencyMismatch" | "TooLarge" | "BodyTooLarge" | "BadGraph" | "EmptyBody" | "Truncated" | "WeightRange" | "NegativeCycle" | "QueueFull" | "Forbidden" | "CrossOrigin" | "WrongHost" | "JobQuota" | "StorageQuota" | "AddressLimit" | "WrongKeys" | "ConnectionLimit" | "TooManyWatchers" | "TooManyUploads" | "Draining" | "NotReady" | "Cancelled" | "DeadlineExceeded" | "NoMemory" | "NoDeviceMemory" | "NoDevice" | "DiskFull" | "InputOutput" | "Corrupt" | "NotVerified" | "DeviceLost" | "PoisonJob" | "Configuration";
  /** What is taken at most. */
  limit?: number | null;
  /** What it was, as far as it was read. */
  actual?: number | null;
  /** What to do. */
  hint?: string;
  /** Of the body, counted from 1. */
  line?: number;
  /** In the line, counted from 1. */
  column?: number;
  /** Of the entry of a list in the body, counted from 0. */
  index?: number;
  /** The same as X-Request-Id. */
  request_id?: string;
  /** With `NotSolved`: the job to watch. */
  links?: {
    job: Link;
  };
  /** With `NegativeCycle` of a job: the vertices of one. */
  cycle?: Vertex[];
  /** With `NegativeCycle` of a job: what the cycle weighs. */
  weight?: number;
};

/** The data of a `progress` event. */
export type Progress = {
  id: string;
  state: "queued" | "running" | "done" | "failed" | "cancelled";
  /** Jobs ahead of it in the queue. */
  position: number;
  /** The share of the job's time that has passed, over all phases: never less than it was while the job runs, and 1 once it is done. A job that is put back in the queue begins anew. */
  progress: number;
  /** What a running job is at, in this order. Else `null`. */
  phase: "planning" | "solving" | "writing" | "checking" | "publishing" | null;
  /** Seconds that are left: of the phase by the pace of what is done, of later ones as expected. */
  eta_s: number | null;
};

export type Ready = {
  ready: true;
  /** With `verbose`. */
  checks?: {
    /** A solver is open, and not being started again. */
    worker: boolean;
    /** The service is about to stop. */
    draining: boolean;
    /** Jobs that could still be queued. */
    queue_free: number;
  };
};

/** In which form the distances are kept. */
export type Result = {
  kind: "matrix" | "hierarchy";
  /** Of its file, as far as they are known: exact once the job is done. */
  bytes: number;
  /** Of a hierarchy: arcs that searches may follow. */
  arcs?: number;
  /** Why it has this form. */
  reason: string;
};

export type Row = {
  source: Vertex;
  destinations: Vertex[];
  distances: Distance[];
};

export type Statistics = {
  /** Vertices. */
  n: number;
  kind: Kind;
  /** Pairs of different vertices with a path. */
  reachable_pairs: number;
  /** The largest distance; 0 where no vertex reaches another, `null` without vertices. */
  diameter: number | null;
  /** The least eccentricity of the vertices that reach another; else as the diameter. */
  radius: number | null;
  mean_distance: number | null;
  /** Per vertex, the largest distance from it; 0 where it reaches none. */
  eccentricity: number[];
  /** Per vertex, as NetworkX defines it, over distances from the vertex; 0 where it reaches none. */
  closeness: number[];
  /** Per vertex, how many others it reaches. */
  reachable: number[];
  /** Finite distances between different vertices. */
  histogram: {
    /** Where the first bin begins. */
    min: number;
    bin_width: number;
    counts: number[];
  } | null;
};

/** Longitude and latitude in degrees (WGS 84), or x and y of a plane. */
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

/** Seconds by phase. */
export type Timings = {
  /** Waiting. */
  queue_s: number;
  /** Reading the upload. */
  parse_s: number;
  /** Making a matrix of the edges. */
  fill_s: number;
  /** To the device. */
  h2d_s: number;
  /** Solving. */
  compute_s: number;
  /** From the device. */
  d2h_s: number;
  /** Writing the result. */
  write_s: number;
  /** From acceptance to the end. */
  total_s: number;
};

/** The proof that the matrix is right. */
export type Verification = {
  /** Rows that were checked. */
  rows: number;
  /** Rows that there are. */
  of: number;
  /** Edges that each was held against. */
  edges: number;
  on: "host";
  checks: ("zero_diagonal" | "edges_relaxed" | "tight_last_edge" | "tight_path")[];
  /** Relative, of floats; 0 is exact. */
  tolerance: number;
  /** What it took. */
  seconds: number;
};

export type Version = {
  version: string;
  /** The commit that was built, or nothing where the build did not know it. */
  commit: string;
  api: "v1";
  build: {
    /** Whether the GPU solver is built in. */
    cuda: boolean;
  };
};

/** The name of a vertex as the file has it: an integer, or a string. */
export type Vertex = number | string;

export type Vertices = {
  vertices: Vertex[];
};

/** About the upload: what was assumed or left out, why that may be wrong, and what changes it. They stop nothing. At most one of each code. */
export type Warnings = {
  /** `DirectedAssumed`: a list of edges, a matrix in text or JSON does not say its direction, and no edge has its reverse. `ColumnsUnused`: columns have no part in the graph. `ParallelMerged`: edges of the same ends had other weights. `FormatGuessed`: columns or dialect were guessed. `ZerosAreEdges`: each 0 of an array is an edge, and none is missing. `NameMoved`: another graph has lost the name. `EdgesAbsent`: a change was to remove edges that were not there. `WeightsAbsent`: each edge counts 1, and there are columns that are not used. `HeaderGuessed`: the first line was read as a header whose names are not known. `AllWeightsZero`: every weight is 0. `DirectionsRead`: `oneway` or `reverse_cost` was read. `NegativeCosts`: a column `cost` has negative weights that are all -1, which pgRouting writes where there is no way. `KindChanged`: a change of weights needs a wider kind or more decimals. `Rounded`: `kind=f4` has fewer digits than a distance may have. */
  code: "DirectedAssumed" | "ColumnsUnused" | "ParallelMerged" | "FormatGuessed" | "ZerosAreEdges" | "NameMoved" | "EdgesAbsent" | "WeightsAbsent" | "HeaderGuessed" | "AllWeightsZero" | "DirectionsRead" | "NegativeCosts" | "KindChanged" | "Rounded";
  detail: string;
  /** The parameter, or what else, changes it. */
  hint: string;
  /** Of `ColumnsUnused` and `WeightsAbsent`: the names of the first of these columns. */
  columns?: string[];
}[];
