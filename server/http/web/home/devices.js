// Shows the devices with their memory and current job.

import { byId, make, bytes, percent, plural, seconds } from "./dom.js";
import { ask } from "./service.js";
import { guard } from "./problem.js";

let devices = [];

function loadOf(device, jobs) {
  const mine = jobs.filter((job) => job.state === "running" && (job.device === device.name || devices.length === 1));
  if (mine.length === 0) return "idle";
  const [job] = mine;
  const name = job.name ?? job.graph.slice(0, 10);
  const left = job.eta_s > 0 ? `, ${seconds(job.eta_s)} left` : "";
  return `busy with ${name}: ${job.phase ?? "planning"}, ${percent(job.progress)}${left}`;
}

function memoryOf(device) {
  const used = device.memory_bytes - device.memory_free_bytes;
  return [
    make("meter", { max: device.memory_bytes, value: used, "aria-label": `Memory in use on ${device.name}` }),
    make("span", { class: "words" }, `${bytes(device.memory_free_bytes)} of ${bytes(device.memory_bytes)} free when the service started`),
  ];
}

export function showLoad(jobs) {
  for (const [index, device] of devices.entries()) {
    const load = byId(`load-${index}`);
    const words = loadOf(device, jobs);
    if (load !== null && load.textContent !== words) load.textContent = words;
  }
}

export async function startDevices(jobs) {
  const answer = await guard(byId("devices-problem"), () => ask("/v1/devices"));
  if (answer === undefined) return;
  devices = answer.devices;
  byId("devices").replaceChildren(...devices.map((device, index) => make("li", {},
    make("div", { class: "line" }, make("span", { class: "badge" }, device.solver), make("strong", {}, device.name)),
    memoryOf(device),
    make("span", { class: "words" }, `${plural(device.units, device.solver === "gpu" ? "multiprocessor" : "thread")}, ${device.detail}`),
    make("span", { class: "words load", id: `load-${index}` }, "idle"))));
  byId("gpu-reason").textContent = answer.gpu_reason ? `No GPU: ${answer.gpu_reason.replace(/\.$/, "")}.` : "";
  showLoad(jobs());
}
