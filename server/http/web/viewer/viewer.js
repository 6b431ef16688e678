
// Shows /openapi.json: operations by tag with parameters, bodies, answers and a curl line to try.

// A proxy may serve this page below a path of its own: every address is relative to the page.
const base = new URL("./", location.href).href;
const methods = ["get", "post", "put", "delete", "patch"];
// Headers that every answer may have, described in the components.
const everywhere = new Set(["X-Request-Id", "traceparent"]);
let spec;

/* ---- Elements ---- */

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), value);
    } else if (value !== false && value !== undefined && value !== null) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

// The Markdown that the description uses: paragraphs, lists with dashes, code in backquotes.
function inline(text) {
  return text.split(/(`[^`]+`)/).map((piece) =>
    piece.startsWith("`") && piece.length > 1 ? make("code", {}, piece.slice(1, -1)) : piece);
}

function prose(text) {
  return (text ?? "").split("\n\n").filter((block) => block !== "").map((block) => {
    const lines = block.split("\n");
    return lines.every((line) => line.startsWith("- "))
      ? make("ul", {}, lines.map((line) => make("li", {}, inline(line.slice(2)))))
      : make("p", {}, inline(block));
  });
}

/* ---- The document ---- */

function resolve(object) {
  let found = object;
  while (found?.$ref !== undefined) {
    found = found.$ref.slice(2).split("/").reduce((at, key) => at[key], spec);
  }
  return found;
}

function nameOf(schema) {
  return schema?.$ref?.startsWith("#/components/schemas/") ? schema.$ref.split("/").pop() : null;
}

// A schema in a few words, with links to named schemas.
function words(schema) {
  if (schema === undefined || schema === true) return ["anything"];
  const name = nameOf(schema);
  if (name !== null) return [make("a", { href: `#schema-${name}` }, name)];
  if (schema.enum) return [schema.enum.map((value) => JSON.stringify(value)).join(" | ")];
  if (schema.const !== undefined) return [JSON.stringify(schema.const)];
  const choice = schema.oneOf ?? schema.anyOf;
  if (choice) return choice.flatMap((one, index) => (index === 0 ? words(one) : [" or ", ...words(one)]));
  if (schema.allOf) return words(schema.allOf[0]);
  const type = [schema.type ?? "bytes"].flat().join(" or ");
  if (schema.prefixItems) {
    return ["[", ...schema.prefixItems.flatMap((one, i) => (i === 0 ? words(one) : [", ", ...words(one)])), "]"];
  }
  if (schema.items) return ["array of ", ...words(schema.items)];
  const bounds = [];
  if (schema.maximum !== undefined) bounds.push(`${schema.minimum ?? ""} to ${schema.maximum}`);
  else if (schema.minimum !== undefined && schema.minimum !== 0) bounds.push(`at least ${schema.minimum}`);
  if (schema.default !== undefined) bounds.push(`by default ${schema.default}`);
  if (schema.format !== undefined) bounds.push(schema.format);
  return [[type, ...bounds].join(", ")];
}

// The members of an object, including those of unnamed objects inside it.
function members(schema) {
  const inner = schema?.items && nameOf(schema.items) === null ? schema.items : schema;
  const choices = (inner?.oneOf ?? inner?.anyOf)?.filter((one) => one.properties);
  if (choices?.length) return choices.map((one) => members(one));
  if (!inner?.properties) return null;
  return make("ul", { class: "members" }, Object.entries(inner.properties).map(([name, member]) =>
    make("li", {}, make("code", {}, name), " ", make("span", { class: "type" }, words(member)),
      inner.required?.includes(name) ? null : make("span", { class: "type" }, ", optional"),
      member.description ? [". ", ...inline(member.description)] : null,
      nameOf(member) === null ? members(member) : null)));
}

// Prints JSON on one line if it fits.
function printed(value) {
  const line = JSON.stringify(value);
  return line.length < 100 ? line : JSON.stringify(value, null, 1);
}

/* ---- Trying ---- */

function addressOf(path) {
  return base + path.slice(1);
}

function quote(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

class Trial {
  constructor(method, path, body, streams) {
    Object.assign(this, { method, path, body, streams });
    this.fields = new Map();
    this.line = make("pre", { tabindex: "0" });
    this.answer = make("pre", { tabindex: "0", hidden: true });
  }

  field(parameter) {
    const schema = resolve(parameter.schema);
    const label = `${parameter.name}, in ${parameter.in}`;
    const choices = schema.enum ?? (schema.type === "boolean" ? ["true", "false"] : null);
    const value = parameter.example ?? "";
    const field = choices
      ? make("select", { "aria-label": label }, ["", ...choices].map((one) => make("option", {}, one)))
      : make("input", { "aria-label": label });
    // Questions about a vertex take it in several ways, of which none is required.
    const isFilled = parameter.required || parameter.name === "source";
    field.value = isFilled ? value : "";
    if (!choices && !isFilled && parameter.example !== undefined) field.placeholder = parameter.example;
    field.addEventListener("input", () => this.show());
    this.fields.set(parameter, field);
    return field;
  }

  request() {
    let path = this.path;
    const query = [];
    const headers = {};
    for (const [parameter, field] of this.fields) {
      const value = field.value;
      if (parameter.in === "path") path = path.replace(`{${parameter.name}}`, encodeURIComponent(value));
      else if (value === "") continue;
      else if (parameter.in === "header") headers[parameter.name] = value;
      else query.push(`${parameter.name}=${encodeURIComponent(value).replaceAll("%2C", ",").replaceAll("%3A", ":")}`);
    }
    const request = { method: this.method.toUpperCase(), headers };
    if (this.body) {
      headers["Content-Type"] = this.type.value;
      request.body = this.text.value;
    }
    return [path + (query.length ? `?${query.join("&")}` : ""), request];
  }

  show() {
    const [path, request] = this.request();
    const words = this.streams ? ["curl", "-N"] : ["curl"];
    if (request.method === "DELETE" || request.method === "PUT") words.push("-X", request.method);
    for (const [name, value] of Object.entries(request.headers)) words.push("-H", quote(`${name}: ${value}`));
    if (this.body) words.push("--data-binary", quote(request.body.startsWith("@") ? ` ${request.body}` : request.body));
    this.line.textContent = [...words, quote(addressOf(path))].join(" ");
  }

  async send() {
    const [path, request] = this.request();
    this.answer.hidden = false;
    this.answer.textContent = "…";
    try {
      const response = await fetch(addressOf(path), request);
      const type = response.headers.get("Content-Type") ?? "";
      const head = `${response.status} ${response.statusText}\n${type}\n\n`;
      if (/json|text/.test(type)) {
        let text = await response.text();
        try { text = printed(JSON.parse(text)); } catch { /* not all text is one JSON */ }
        this.answer.textContent = head + (text.length > 20000 ? `${text.slice(0, 20000)}\n…` : text);
      } else {
        this.answer.textContent = `${head}${(await response.arrayBuffer()).byteLength} bytes`;
      }
    } catch (error) {
      this.answer.textContent = `No response: ${error.message}`;
    }
  }

  bodyFields() {
    if (!this.body) return null;
    const content = this.body.content;
    this.text = make("textarea", { "aria-label": "Body", spellcheck: "false", oninput: () => this.show() });
    const fill = () => {
      const example = content[this.type.value].example ?? "";
      this.text.value = typeof example === "string" ? example : JSON.stringify(example);
      this.show();
    };
    this.type = make("select", { "aria-label": "Content-Type", onchange: fill },
      Object.keys(content).map((type) => make("option", {}, type)));
    this.type.value = content["application/json"] ? "application/json" : Object.keys(content)[0];
    queueMicrotask(fill);
    return [make("p", {}, this.type), this.text];
  }

  element() {
    const body = this.bodyFields();
    this.show();
    return make("div", {}, make("h3", {}, "Try it"), body, this.line,
      make("div", { class: "buttons" },
        make("button", { type: "button", onclick: () => this.send() }, "Send"),
        make("button", { type: "button", onclick: () => navigator.clipboard?.writeText(this.line.textContent) }, "Copy the curl command")),
      make("div", { "aria-live": "polite" }, this.answer));
  }
}

/* ---- Operations ---- */

function parameterTable(parameters, trial) {
  if (parameters.length === 0) return null;
  const rows = parameters.map((parameter) => make("tr", {},
    make("td", {}, make("code", {}, parameter.name), parameter.required ? make("span", { class: "needed", title: "required" }, " *") : null,
      make("div", { class: "type" }, parameter.in)),
    make("td", {}, make("span", { class: "type" }, words(parameter.schema)), make("div", {}, inline(parameter.description ?? ""))),
    make("td", {}, trial.field(parameter))));
  return make("div", { class: "table" }, make("table", { class: "params" },
    make("thead", {}, make("tr", {}, ["Parameter", "Description", "Value"].map((name) => make("th", { scope: "col" }, name)))),
    make("tbody", {}, rows)));
}

function bodyPart(body) {
  if (!body) return null;
  return [make("h3", {}, "Body"), make("ul", {}, Object.entries(body.content).map(([type, media]) =>
    make("li", {}, make("code", {}, type), " ", make("span", { class: "type" }, media.schema?.description ? inline(media.schema.description) : words(media.schema)))))];
}

function eventWords(events) {
  return Object.entries(events).flatMap(([name, schema], index) =>
    [index === 0 ? "" : ", ", make("code", {}, name), ": ", ...words(schema)]);
}

function answerPart(status, reference) {
  const response = resolve(reference);
  const contents = Object.entries(response.content ?? {}).map(([type, media]) => {
    const codes = media.schema?.allOf?.[1]?.properties?.code?.enum;
    return make("div", {}, make("code", {}, type), " ",
      make("span", { class: "type" }, media["x-events"] ? eventWords(media["x-events"]) : codes ? codes.join(", ") : media.schema?.description ? inline(media.schema.description) : words(media.schema)),
      media.example === undefined ? null
        : make("pre", {}, typeof media.example === "string" ? media.example : printed(media.example)));
  });
  const headers = Object.keys(response.headers ?? {}).filter((name) => !everywhere.has(name));
  return make("tr", {}, make("td", {}, make("strong", {}, status)),
    make("td", {}, inline(response.description), contents,
      headers.length ? make("div", { class: "type" }, "Headers: ", headers.join(", ")) : null));
}

function operationBody(path, method, operation, shared) {
  const parameters = [...shared, ...(operation.parameters ?? [])].map(resolve);
  const body = resolve(operation.requestBody);
  const streams = resolve(operation.responses["200"])?.content?.["text/event-stream"] !== undefined;
  const trial = new Trial(method, path, body, streams);
  const table = parameterTable(parameters, trial);
  return make("div", { class: "body" }, prose(operation.description), table, bodyPart(body), trial.element(),
    make("h3", {}, "Responses"), make("div", { class: "table" }, make("table", {}, make("tbody", {},
      Object.entries(operation.responses).map(([status, response]) => answerPart(status, response))))));
}

// The content is created when the element is opened.
function folded(attributes, summary, makeBody) {
  const details = make("details", attributes, summary);
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(makeBody());
  });
  return details;
}

function operationOf(path, method, operation, shared) {
  return folded({ class: "operation", id: operation.operationId },
    make("summary", {}, make("span", { class: `method ${method}` }, method.toUpperCase()), " ",
      make("span", { class: "path" }, path), " ", make("span", { class: "brief" }, operation.summary)),
    () => operationBody(path, method, operation, shared));
}

function operations() {
  return Object.entries(spec.paths).flatMap(([path, item]) => methods.filter((method) => item[method])
    .map((method) => ({ path, method, operation: item[method], shared: item.parameters ?? [] })));
}

function schemaOf([name, schema]) {
  return folded({ class: "schema", id: `schema-${name}` }, make("summary", {}, make("code", {}, name)),
    () => make("div", { class: "body" }, prose(schema.description), members(schema) ?? make("p", { class: "type" }, words({ ...schema })),
      schema.example === undefined ? null : make("pre", {}, printed(schema.example))));
}

/* ---- The page ---- */

// Upload, wait and ask, in three languages: what most programs do.
function firstSteps() {
  const examples = {
    curl: `curl -H 'Prefer: wait=30' --data-binary @town.gr '${base}v1/jobs?name=town'
curl '${base}v1/graphs/town/distance?source=1&target=2'`,
    Python: `import apspd
town = apspd.Client("${base.slice(0, -1)}").solve("town.gr", name="town")
print(town.distance(1, 2), town.path(1, 2))`,
    JavaScript: `import { Client } from "apspd";
const town = await new Client("${base.slice(0, -1)}").solve(graph, { name: "town" });
console.log(await town.distance(1, 2), await town.path(1, 2));`,
  };
  return [
    make("p", {}, "Upload a graph to ", make("code", {}, "/v1/jobs"), "; the response describes the job."),
    make("p", {}, "When the job is done, query the graph by its id or its name."),
    make("p", {}, "Every error is a JSON document with a code, the reason and, where possible, a remedy."),
    make("h2", {}, "First steps"),
    ...Object.entries(examples).flatMap(([name, text]) => [make("h3", {}, name), make("pre", { tabindex: "0" }, text)]),
  ];
}

function openTarget() {
  const details = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (details?.tagName !== "DETAILS") return;
  details.open = true;
  details.scrollIntoView();
}

function filter(text) {
  const wanted = text.trim().toLowerCase();
  for (const item of document.querySelectorAll("#index li")) {
    item.hidden = !item.textContent.toLowerCase().includes(wanted);
  }
}

function show() {
  const content = document.getElementById("content");
  const all = operations();
  content.replaceChildren(
    make("h1", {}, spec.info.title, " ", make("small", {}, spec.info.version)),
    make("p", {}, spec.info.summary, " ", make("a", { href: "openapi.json" }, "openapi.json")),
    ...firstSteps(),
    ...prose(spec.info.description),
    ...spec.tags.map((tag) => make("section", { "aria-labelledby": `tag-${tag.name}` },
      make("h2", { id: `tag-${tag.name}` }, tag.name), prose(tag.description),
      all.filter(({ operation }) => operation.tags[0] === tag.name)
        .map(({ path, method, operation, shared }) => operationOf(path, method, operation, shared)))),
    make("section", { "aria-labelledby": "schemas" }, make("h2", { id: "schemas" }, "Schemas"),
      Object.entries(spec.components.schemas).map(schemaOf)));
  document.getElementById("index").replaceChildren(...spec.tags.flatMap((tag) => [
    make("h2", {}, tag.name),
    make("ul", {}, all.filter(({ operation }) => operation.tags[0] === tag.name).map(({ path, method, operation }) =>
      make("li", {}, make("a", { href: `#${operation.operationId}`, title: `${method.toUpperCase()} ${path}` }, operation.summary)))),
  ]));
  content.removeAttribute("aria-busy");
}

document.getElementById("filter").addEventListener("input", (event) => filter(event.target.value));
addEventListener("hashchange", openTarget);
try {
  spec = await (await fetch("openapi.json")).json();
  show();
  openTarget();
} catch (error) {
  document.getElementById("status").textContent = `openapi.json cannot be shown: ${error.message}`;
}
