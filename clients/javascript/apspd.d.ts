import type { Estimate, Graph, Job, Kind, Problem, Statistics, Vertex, Warnings } from "./openapi.js";

export type Edge = [source: Vertex, target: Vertex, weight?: number];

/** A list of edges, an object with edges and optionally nodes, or a file in a format that the service reads. */
export type GraphInput =
  | Edge[]
  | { edges: Edge[]; nodes?: Vertex[]; directed?: boolean }
  | string
  | Blob
  | ArrayBuffer
  | ArrayBufferView;

export interface WaitOptions {
  /** Stops the wait, but not the job; Result.cancel() cancels the job. */
  signal?: AbortSignal;
  /** A function that is called with the job's document every second, and when the job has ended. */
  onProgress?: (job: Job) => void;
}

/** Options of the service for a solve. `format`, `charset`, `weight` and `n` apply only to files. */
export interface SolveOptions extends WaitOptions {
  name?: string;
  kind?: "auto" | Kind;
  result?: "auto" | "matrix" | "hierarchy";
  directed?: boolean;
  priority?: number;
  deadline_s?: number;
  verify?: boolean;
  format?: string;
  charset?: string;
  weight?: string;
  n?: number;
}

export interface ClientOptions {
  key?: string;
  /** The total time in seconds that a request waits while the service is busy. Default: 120. */
  patience?: number;
  fetch?: typeof fetch;
}

export interface ShortestPath {
  /** Infinity if there is no path; `vertices` and `weights` are then empty. */
  distance: number;
  vertices: Vertex[];
  weights: number[];
}

export interface Neighbour {
  vertex: Vertex;
  distance: number;
}

export interface MatrixData {
  rows: number;
  cols: number;
  /** The elements, row by row. */
  data: Int32Array | Uint16Array | Float32Array | Float64Array;
}

/** The service refused the request, or the job failed. */
export class ServiceError extends Error {
  readonly code: Problem["code"] | string;
  readonly status: number;
  readonly problem: Partial<Problem> & Record<string, unknown>;
  /** The job that failed or was cancelled. */
  readonly job?: Job;
}

export class Client {
  constructor(url?: string, options?: ClientOptions);
  /** Uploads a graph, waits until it is solved, and returns the result. */
  solve(graph: GraphInput, options?: SolveOptions): Promise<Result>;
  /** Does the same as solve() without waiting for the job; the first query waits. */
  submit(graph: GraphInput, options?: SolveOptions): Promise<Result>;
  /** Returns the result of a stored graph, given its id, its name or the id of a job. */
  result(graph: string, options?: WaitOptions): Promise<Result>;
  /** Returns all graphs in the service, newest first. */
  graphs(): Promise<Graph[]>;
  /** Returns all jobs, newest first; with `state`, only the jobs in this state. */
  jobs(query?: { state?: Job["state"] }): Promise<Job[]>;
  /** Estimates the bytes and seconds of a solve, for a stored graph or for numbers of vertices and edges. */
  estimate(graph: string | { n: number; m: number; kind?: "auto" | Kind }): Promise<Estimate>;
  delete(graph: string): Promise<void>;
}

/** The shortest distances of a graph. The distance Infinity means that there is no path. */
export class Result {
  private constructor();
  readonly job: Job;
  readonly graph: string;
  readonly kind: Kind;
  readonly warnings: Warnings;
  /** The element of matrix() that means that there is no path. */
  readonly unreachable: number;
  wait(options?: WaitOptions): Promise<this>;
  vertices(): Promise<Vertex[]>;
  distance(source: Vertex, target: Vertex): Promise<number>;
  pairs(pairs: [Vertex, Vertex][]): Promise<number[]>;
  /** Returns the distances from each source to each destination. Both default to all vertices. */
  table(sources?: Vertex[], destinations?: Vertex[]): Promise<number[][]>;
  /** Returns the distances from one vertex to all vertices, in the order of vertices(). */
  row(source: Vertex): Promise<number[]>;
  path(source: Vertex, target: Vertex): Promise<ShortestPath>;
  nearest(source: Vertex, k?: number): Promise<Neighbour[]>;
  /** Returns the vertex nearest to a position, according to the coordinates. */
  nearest(place: { lon: number; lat: number } | { x: number; y: number }): Promise<Vertex>;
  /** Returns GeoJSON: the path to the target as a line, or the vertices within a distance or the k nearest
   * vertices as points. */
  geojson(source: Vertex, what: { target: Vertex } | { max: number } | { k: number }): Promise<Record<string, unknown>>;
  /** Sets the coordinates of vertices: [vertex, lon, lat] or, with `plane`, [vertex, x, y]. */
  setCoordinates(places: [Vertex, number, number][], options?: { plane?: boolean }): Promise<void>;
  within(source: Vertex, max: number): Promise<Neighbour[]>;
  stats(): Promise<Statistics>;
  /** Returns the whole matrix, or the part with the given rows and columns ("10:20", "Rome,Paris"). */
  matrix(part?: { rows?: string; cols?: string }): Promise<MatrixData>;
  /** Changes, adds or removes edges; the weight null removes an edge. The result and the graph's name then refer to
   * the changed graph. */
  update(edges: [Vertex, Vertex, number | null][], options?: SolveOptions): Promise<this>;
  cancel(): Promise<void>;
  delete(): Promise<void>;
}
