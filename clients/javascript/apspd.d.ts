import type { Estimate, Graph, Job, Kind, Problem, Statistics, Vertex, Warnings } from "./openapi.js";

export type Edge = [source: Vertex, target: Vertex, weight?: number];

/** A list of edges; the same with vertices that may have no edge; or a file in a format of the service. */
export type GraphInput =
  | Edge[]
  | { edges: Edge[]; nodes?: Vertex[]; directed?: boolean }
  | string
  | Blob
  | ArrayBuffer
  | ArrayBufferView;

export interface WaitOptions {
  /** Stops the waiting, not the job: see Result.cancel(). */
  signal?: AbortSignal;
  /** Is called with the job's document each second, and once it has ended. */
  onProgress?: (job: Job) => void;
}

/** Options of the service for a solve. `format`, `charset`, `weight` and `n` are for files. */
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
  /** Seconds that a request waits in all for a busy service, 120 by default. */
  patience?: number;
  fetch?: typeof fetch;
}

export interface ShortestPath {
  /** Infinity where there is no path, and then no vertices. */
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
  /** Row by row. */
  data: Int32Array | Uint16Array | Float32Array | Float64Array;
}

/** The service refused, or the job failed. */
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
  /** The same without waiting; the first question waits. */
  submit(graph: GraphInput, options?: SolveOptions): Promise<Result>;
  /** The result of a graph that the service has, by its id, its name or the id of a job. */
  result(graph: string, options?: WaitOptions): Promise<Result>;
  /** All graphs of the service, newest first. */
  graphs(): Promise<Graph[]>;
  /** All jobs, newest first; `state` picks some. */
  jobs(query?: { state?: Job["state"] }): Promise<Job[]>;
  /** What a solve would take: of a stored graph, or of numbers. */
  estimate(graph: string | { n: number; m: number; kind?: "auto" | Kind }): Promise<Estimate>;
  delete(graph: string): Promise<void>;
}

/** Shortest distances of a graph; Infinity where there is no path. */
export class Result {
  private constructor();
  readonly job: Job;
  readonly graph: string;
  readonly kind: Kind;
  readonly warnings: Warnings;
  /** The element of matrix() where there is no path. */
  readonly unreachable: number;
  wait(options?: WaitOptions): Promise<this>;
  vertices(): Promise<Vertex[]>;
  distance(source: Vertex, target: Vertex): Promise<number>;
  pairs(pairs: [Vertex, Vertex][]): Promise<number[]>;
  /** From each source to each destination; all vertices by default. */
  table(sources?: Vertex[], destinations?: Vertex[]): Promise<number[][]>;
  /** To all vertices, in the order of vertices(). */
  row(source: Vertex): Promise<number[]>;
  path(source: Vertex, target: Vertex): Promise<ShortestPath>;
  nearest(source: Vertex, k?: number): Promise<Neighbour[]>;
  /** The vertex nearest to a place, by the coordinates. */
  nearest(place: { lon: number; lat: number } | { x: number; y: number }): Promise<Vertex>;
  /** A path to the target as a line, or the vertices up to a distance, or the k nearest, as points. */
  geojson(source: Vertex, what: { target: Vertex } | { max: number } | { k: number }): Promise<Record<string, unknown>>;
  /** Sets the places of vertices: [vertex, lon, lat], or [vertex, x, y] in a plane. */
  setCoordinates(places: [Vertex, number, number][], options?: { plane?: boolean }): Promise<void>;
  within(source: Vertex, max: number): Promise<Neighbour[]>;
  stats(): Promise<Statistics>;
  /** All elements, or those of rows and columns ("10:20", "Rome,Paris"). */
  matrix(part?: { rows?: string; cols?: string }): Promise<MatrixData>;
  /** Changes edges (null removes one); the result then is that of the changed graph, as its name is. */
  update(edges: [Vertex, Vertex, number | null][], options?: SolveOptions): Promise<this>;
  cancel(): Promise<void>;
  delete(): Promise<void>;
}
