// The map on which a graph is drawn. Leaflet pans and zooms it and draws the map tiles; the graph is painted on a
// canvas that is one of Leaflet's layers.

import { sharpen } from "./dom.js";

const L = globalThis.L;
const MARGIN = [24, 24];
const DEEPEST_TILE = 19;
// The deepest zoom, counted from the view of the whole graph; each step doubles the size.
const STEPS_INWARD = 12;
// A plane has no smallest unit: any size of a drawing must fit.
const ANY_ZOOM = 60;

// The canvas of the graph. Calls paint({ context, width, height }, points) at most once a frame, after the map has
// moved or the drawing has changed. points: the pixel of each vertex, NaN for one without coordinates.
class Sheet {
  constructor(map, places, paint) {
    Object.assign(this, { map, places, paint, flat: null, wanted: false });
    this.canvas = L.DomUtil.create("canvas", "", map.getPane("overlayPane"));
    map.on("move zoom viewreset resize", () => this.ask());
  }

  // Call this when vertices have moved or are drawn differently.
  change() {
    this.flat = null;
    this.ask();
  }

  ask() {
    if (this.wanted) return;
    this.wanted = true;
    requestAnimationFrame(() => {
      this.wanted = false;
      this.draw();
    });
  }

  draw() {
    const size = this.map.getSize();
    if (size.x === 0 || size.y === 0 || !this.canvas.isConnected) return;
    L.DomUtil.setPosition(this.canvas, this.map.containerPointToLayerPoint([0, 0]));
    this.canvas.style.width = `${size.x}px`;
    this.canvas.style.height = `${size.y}px`;
    this.paint(sharpen(this.canvas), this.points());
  }

  // Leaflet projects each vertex once, at zoom 0; at another zoom the result is multiplied by 2^zoom.
  points() {
    const { map } = this;
    const { x, y } = this.places;
    this.flat ??= Array.from(x, (_, i) => (Number.isFinite(x[i]) ? map.project([y[i], x[i]], 0) : { x: NaN, y: NaN }));
    const zoom = map.getZoom();
    const factor = 2 ** zoom;
    const origin = map.project(map.getCenter(), zoom).subtract(map.getSize().divideBy(2));
    return this.flat.map((point) => [point.x * factor - origin.x, point.y * factor - origin.y]);
  }
}

// box: the element that holds the map. onPick(point) is called for a click at a pixel, onPoint(point) when the
// mouse moves to a pixel, with null when it leaves. Call fit() when the box's size or the colours have changed.
export function makeMap(box, { places, onMap, tiles, paint, onPick, onPoint }) {
  const hasTiles = onMap && tiles !== null;
  const coarse = matchMedia("(pointer: coarse)").matches;
  const map = L.map(box, {
    crs: onMap ? L.CRS.EPSG3857 : L.CRS.Simple,
    attributionControl: false,
    zoomControl: false,
    // One finger scrolls the page, two fingers move the map; the wheel zooms once the map was clicked.
    dragging: !coarse,
    scrollWheelZoom: false,
    doubleClickZoom: false,
    zoomAnimation: false,
    zoomSnap: hasTiles ? 1 : 0.25,
    zoomDelta: hasTiles ? 1 : 0.5,
    minZoom: -ANY_ZOOM,
    maxZoom: ANY_ZOOM,
  });
  L.control.zoom({ zoomInTitle: "Zoom in", zoomOutTitle: "Zoom out" }).addTo(map);
  map.on("focus mousedown", () => map.scrollWheelZoom.enable());
  map.on("blur", () => map.scrollWheelZoom.disable());
  const bounds = boundsOf(places, places.x.keys());
  let whole;
  const fitWhole = () => {
    map.setMinZoom(-ANY_ZOOM).setMaxZoom(ANY_ZOOM).fitBounds(bounds, { padding: MARGIN, animate: false });
    whole = map.getZoom();
    map.setMinZoom(whole - 1).setMaxZoom(whole + STEPS_INWARD);
    box.dataset.zoom = "1.00";
  };
  fitWhole();
  map.setMaxBounds(bounds.pad(1));
  if (hasTiles) {
    L.tileLayer(tiles, { maxNativeZoom: DEEPEST_TILE, maxZoom: ANY_ZOOM, referrerPolicy: "origin" }).addTo(map);
  }
  const sheet = new Sheet(map, places, paint);
  map.on("zoomend moveend", () => { box.dataset.zoom = (2 ** (map.getZoom() - whole)).toFixed(2); });
  map.on("click", (event) => onPick(event.containerPoint));
  map.on("mousemove", (event) => onPoint(event.containerPoint));
  map.on("mouseout", () => onPoint(null));
  map.on("keypress", ({ originalEvent }) => { if (originalEvent.key === "0") showWhole(map, places); });
  const fit = () => {
    const wasWhole = map.getZoom() === whole;
    map.invalidateSize({ animate: false });
    // If the whole graph was visible, it stays so after a change of the window's size.
    if (wasWhole) fitWhole();
    sheet.ask();
  };
  return { map, sheet, fit };
}

function boundsOf({ x, y }, rows) {
  const bounds = L.latLngBounds([]);
  for (const i of rows) if (Number.isFinite(x[i])) bounds.extend([y[i], x[i]]);
  if (!bounds.isValid()) return L.latLngBounds([[0, 0], [1, 1]]);
  const flat = bounds.getNorth() === bounds.getSouth() && bounds.getEast() === bounds.getWest();
  return flat ? L.latLngBounds([bounds.getSouth() - 0.01, bounds.getWest() - 0.01], [bounds.getNorth() + 0.01, bounds.getEast() + 0.01]) : bounds;
}

export function showWhole(map, places) {
  map.fitBounds(boundsOf(places, places.x.keys()), { padding: MARGIN, animate: false });
}

// Zooms to the given vertices with some of their surroundings.
export function frame(map, places, rows) {
  map.fitBounds(boundsOf(places, rows).pad(0.3), { padding: MARGIN, animate: false });
}

// Zooms to a path that is off the screen or would be small on it.
export function keepInView(map, places, rows) {
  const bounds = boundsOf(places, rows);
  const size = map.getSize();
  const far = map.latLngToContainerPoint(bounds.getNorthEast()).subtract(map.latLngToContainerPoint(bounds.getSouthWest()));
  const small = Math.abs(far.x) < size.x / 5 && Math.abs(far.y) < size.y / 5;
  if (small || !map.getBounds().contains(bounds)) frame(map, places, rows);
}
