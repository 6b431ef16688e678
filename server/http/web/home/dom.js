// Creates elements of the page and formats numbers for people.

export function byId(id) {
  return document.getElementById(id);
}

function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), value);
    } else if (value !== false && value !== undefined && value !== null) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
}

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  set(element, attributes);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  set(element, attributes);
  element.append(...children.flat());
  return element;
}

// Unchanged text is not set again, or screen readers would read it aloud again.
export function say(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });

export function count(value) {
  return whole.format(value);
}

// A number with four significant digits, or without decimals from 1000 on.
export function rough(value) {
  return Math.abs(value) >= 1000 ? whole.format(value) : short.format(value);
}

// A number with the fewest digits that identify it. Not all browsers print more than 20 decimals.
export function distance(value) {
  if (value === null) return "unreachable";
  const [, decimals = ""] = String(value).split(".");
  return String(value).includes("e") || decimals.length > 20 ? String(value) : value.toLocaleString("en", { maximumFractionDigits: decimals.length });
}

export function plural(value, one, many = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : many}`;
}

export function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export function seconds(value) {
  if (value < 0.001) return `${Math.max(1, Math.round(value * 1e6))} µs`;
  if (value < 1) return `${rough(Number((value * 1000).toPrecision(3)))} ms`;
  if (value < 100) return `${Number(value.toPrecision(3))} s`;
  if (value < 6000) return `${Math.round(value / 60)} min`;
  return `${(value / 3600).toFixed(1)} h`;
}

export function age(time) {
  const passed = Math.max(0, (Date.now() - Date.parse(time)) / 1000);
  for (const [length, name] of [[86400, "day"], [3600, "hour"], [60, "minute"]]) {
    if (passed >= length) return `${plural(Math.floor(passed / length), name)} ago`;
  }
  return "just now";
}

export function percent(share) {
  const value = share * 100;
  return `${value > 0 && value < 10 ? Number(value.toPrecision(2)) : Math.round(value)}\u00a0%`;
}

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Viridis by S. van der Walt and N. Smith, at every ninth of its range: evenly brighter for any
// colour vision.

const stops = [
  [0x44, 0x01, 0x54], [0x48, 0x28, 0x78], [0x3e, 0x4a, 0x89], [0x31, 0x68, 0x8e], [0x26, 0x82, 0x8e],
  [0x1f, 0x9e, 0x89], [0x35, 0xb7, 0x79], [0x6e, 0xce, 0x58], [0xb5, 0xde, 0x2b], [0xfd, 0xe7, 0x25],
];

// Returns the colour at a position of the scale. part: from 0 to 1.
export function viridis(part) {
  const at = Math.min(Math.max(part, 0), 1) * (stops.length - 1);
  const below = Math.min(Math.floor(at), stops.length - 2);
  const mixed = stops[below].map((low, i) => Math.round(low + (at - below) * (stops[below + 1][i] - low)));
  return `rgb(${mixed.join(" ")})`;
}

export function saveAs(blob, file) {
  const link = make("a", { href: URL.createObjectURL(blob), download: file });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

// Redraws when the size or the colours change.
export function keepDrawn(element, redraw) {
  new ResizeObserver(redraw).observe(element);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

// The context of a canvas with the resolution of the screen, scaled to CSS pixels.
export function sharpen(canvas) {
  const ratio = devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  return { context, width, height };
}
