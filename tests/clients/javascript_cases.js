// Cases of the JavaScript client, for Node and browsers. run() returns one line per failed case.

function same(found, wanted) {
  const [one, other] = [found, wanted].map((value) => JSON.stringify(value, (_, part) => (part === Infinity ? "inf" : part)));
  if (one !== other) {
    throw new Error(`${one} instead of ${other}`);
  }
}

async function refused(code, promise) {
  try {
    await promise;
  } catch (error) {
    same([error.name, error.code], ["ServiceError", code]);
    return error;
  }
  throw new Error(`${code} was not thrown`);
}

const ROADS = {
  nodes: ["Reykjavik"],
  edges: [["Rome", "Paris", 1105], ["Paris", "Berlin", 878], ["Zürich & Co", "Rome", 0.5]],
  directed: false,
};

const cases = {
  async "answers by the names of the graph"({ client }) {
    const roads = await client.solve(ROADS, { name: "roads", verify: true });
    same(await roads.vertices(), ["Reykjavik", "Rome", "Paris", "Berlin", "Zürich & Co"]);
    same(await roads.distance("Berlin", "Zürich & Co"), 1983.5);
    same(await roads.distance("Berlin", "Reykjavik"), Infinity);
    same(await roads.pairs([["Rome", "Paris"], ["Rome", "Reykjavik"]]), [1105, Infinity]);
    same(await roads.table(["Rome"], ["Paris", "Rome"]), [[1105, 0]]);
    same((await roads.table()).length, 5);
    same(await roads.row("Zürich & Co"), [Infinity, 0.5, 1105.5, 1983.5, 0]);
    same(await roads.path("Rome", "Berlin"), { distance: 1983, vertices: ["Rome", "Paris", "Berlin"], weights: [1105, 878] });
    same(await roads.path("Rome", "Reykjavik"), { distance: Infinity, vertices: [], weights: [] });
    same(await roads.nearest("Rome", 2), [{ vertex: "Zürich & Co", distance: 0.5 }, { vertex: "Paris", distance: 1105 }]);
    same(await roads.within("Rome", 1), [{ vertex: "Zürich & Co", distance: 0.5 }]);
    same((await roads.stats()).n, 5);
    same([roads.job.state, roads.kind, roads.job.verified.rows, roads.warnings], ["done", "f8", 5, []]);
    same((await client.result("roads")).graph, roads.graph);
  },

  async "keeps vertices beyond 2^53"({ client }) {
    const [a, b, c] = ["1243532000000000001", "1243532000000000002", "1243532000000000003"];
    const snow = await client.solve(`source,target,weight\n${a},${b},5\n${b},${c},7\n`, { directed: false });
    same((await snow.path(a, c)).vertices.map(String), [a, b, c]);
    same((await snow.within(a, 100)).map((near) => String(near.vertex)), [b, c]);
    same(await snow.pairs([[BigInt(a), BigInt(c)]]), [12]);
    same((await client.solve([[BigInt(a), BigInt(b), 5]])).job.state, "done");
    let problem = "";
    await client.solve([[Number(a), 2, 5]]).catch((error) => {
      problem = error.message;
    });
    same(problem.includes("not a safe integer"), true);
  },

  async "brings the matrix in each kind"({ client }) {
    for (const [kind, array] of [["i4", Int32Array], ["u2", Uint16Array], ["f4", Float32Array], ["f8", Float64Array]]) {
      const result = await client.solve([[1, 2, 7], [2, 3, 5]], { kind });
      const { rows, cols, data } = await result.matrix();
      same([rows, cols, data instanceof array, data[2]], [3, 3, true, 12]);
      same(data[3], result.unreachable);
      same(Array.from((await result.matrix({ rows: "0:1", cols: "1:3" })).data), [7, 12]);
    }
  },

  async "changes edges"({ client }) {
    const result = await client.solve([[1, 2, 7], [2, 3, 5]], { name: "changing" });
    const other = await client.result("changing");
    same(await result.update([[1, 3, 4], [2, 3, null]]), result);
    same(await result.pairs([[1, 3], [2, 3]]), [4, Infinity]);
    same((await client.result("changing")).graph, result.graph);
    await refused("PreconditionFailed", other.update([[1, 2, 1]]));
  },

  async "takes files"({ client }) {
    const text = "p sp 3 2\na 1 2 5\na 2 3 7\n";
    for (const file of [text, new Blob([text]), new TextEncoder().encode(text)]) {
      same(await (await client.solve(file)).distance(1, 3), 12);
    }
    const csv = await client.solve("from,to,km,h\na,b,3,1\n", { format: "edges", weight: "h" });
    same(await csv.distance("a", "b"), 1);
  },

  async "throws what the service says"({ client, apspd, url }) {
    const result = await client.solve([[1, 2, 7]]);
    same((await refused("NoSuchVertex", result.distance(1, 9))).status, 404);
    same((await refused("BadGraph", client.solve("p sp 3 1\na 1 two 3\n"))).problem.line, 2);
    same((await refused("NegativeCycle", client.solve([[1, 2, -7], [2, 1, 1]]))).job.state, "failed");
    await refused("UnknownParameter", client.solve([[1, 2]], { bogus: 1 }));
    await refused("NoSuchGraph", client.result("nobody/knows"));
    const unknown = await refused("Unauthorized", new apspd.Client(url, { key: "of nobody" }).result("none"));
    same(unknown.message.includes("{ key }"), true);
    for (const bad of [7, {}, [[1, 2, NaN]]]) {
      same(await client.solve(bad).catch((error) => error.name), "TypeError");
    }
  },

  async "sends again what is lost or refused for now, once"({ apspd, url, key }) {
    const seen = [];
    const faults = ["lost", 503, 429, "lost"];
    const client = new apspd.Client(url, {
      key,
      async fetch(address, options) {
        seen.push(options.headers["Idempotency-Key"]);
        const answer = await fetch(address, options);
        const fault = options.method === "POST" ? faults.shift() : undefined;
        if (fault === "lost") {
          throw new TypeError("lost");
        }
        return fault ? new Response("{}", { status: fault, headers: { "Retry-After": "0.01" } }) : answer;
      },
    });
    const before = await (await client.ask("GET", "/v1/jobs?limit=1000")).json();
    same(await (await client.solve([["once", "only", 3]])).distance("once", "only"), 3);
    const after = await (await client.ask("GET", "/v1/jobs?limit=1000")).json();
    same(after.jobs.length, before.jobs.length + 1);
    const keys = seen.filter((found) => found !== undefined);
    same([keys.length, new Set(keys).size], [5, 1]);
    const impatient = new apspd.Client(url, {
      patience: 1,
      fetch: async () => new Response("Away", { status: 503, headers: { "Retry-After": "2" } }),
    });
    await refused("Http503", impatient.solve([[1, 2]]));
    const nowhere = new apspd.Client(url, {
      async fetch() {
        throw new TypeError("Failed to fetch");
      },
    });
    const failed = await nowhere.solve([[1, 2]]).catch((error) => error);
    same([failed.message.includes(url), failed.message.includes("http.cors_origins"), failed.cause.message], [true, true, "Failed to fetch"]);
    same(failed.code, "ConnectionFailed");
  },

  async "lists, estimates and deletes"({ client, apspd, url, key }) {
    const result = await client.solve([[1, 2, 7]], { name: "listed" });
    same((await client.graphs()).some((graph) => graph.names.includes("listed")), true);
    same((await client.jobs({ state: "done" })).some((job) => job.id === result.job.id), true);
    same([(await client.estimate("listed")).n, (await client.estimate({ n: 9, m: 3, kind: "i4" })).n], [2, 9]);
    await client.delete("listed");
    await refused("NoSuchGraph", client.result("listed"));
    const other = new apspd.Client(url, { key, fetch: async () => new Response("<h1>Hello</h1>") });
    await refused("UnexpectedAnswer", other.solve([[1, 2]]));
    const pages = [{ jobs: [], next: "j_1" }, { jobs: [{ id: "j_0" }], next: null }];
    const paged = new apspd.Client(url, { key, fetch: async () => new Response(JSON.stringify(pages.shift())) });
    same((await paged.jobs({ state: "failed" })).length, 1);
  },

  async "knows places"({ client }) {
    const result = await client.solve([['a,"b', " c", 1], [" c", "d", 2]]);
    await refused("NoCoordinates", result.nearest({ lon: 1, lat: 2 }));
    await result.setCoordinates([['a,"b', 1, 2], [" c", 2.5, 3]]);
    same(await result.nearest({ lon: 1.1, lat: 2 }), 'a,"b');
    same((await result.geojson('a,"b', { target: " c" })).geometry.coordinates, [[1, 2], [2.5, 3]]);
    same([(await result.geojson('a,"b', { max: 9 })).features.length, (await result.geojson('a,"b', { k: 1 })).features.length], [2, 1]);
    await result.setCoordinates([["d", 500, 1]], { plane: true });
    same(await result.nearest({ x: 0, y: 0 }), "d");
  },

  async "tells progress, cancels, and stops waiting"({ client, slow }) {
    const states = [];
    const result = await client.submit(slow);
    const stop = new AbortController();
    const waiting = result.wait({ signal: stop.signal, onProgress: (job) => states.push(job.state) && stop.abort() });
    same(await waiting.catch((error) => error.name), "AbortError");
    same(["queued", "running"].includes(states[0]), true);
    await result.cancel();
    same((await refused("Cancelled", result.wait())).job.state, "cancelled");
    await result.delete();
  },
};

export async function run(apspd, url, key, slow) {
  const client = new apspd.Client(`${url}/`, { key });
  const failed = [];
  for (const [name, test] of Object.entries(cases)) {
    try {
      await test({ apspd, client, url, key, slow });
    } catch (error) {
      failed.push(`${name}: ${error.stack ?? error}`);
    }
  }
  return { tried: Object.keys(cases).length, failed };
}
