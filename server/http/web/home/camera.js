// The part of a drawing that is visible: moved and enlarged by wheel, pointer, two fingers, keys.

const MOST = 2000;
const MARGIN = 24;
const STEP = 1.5;
// A wheel that scrolls the page does not begin to enlarge what comes beneath it.
const SCROLLING_MS = 300;

export class Camera {
  constructor(canvas, redraw) {
    this.canvas = canvas;
    this.redraw = redraw;
    this.pointers = new Map();
    this.moved = false;
    this.scrolled = -Infinity;
    this.reset({ left: 0, right: 1, top: 0, bottom: 1 });
    this.listen();
  }

  // bounds: of the whole drawing.
  reset(bounds) {
    this.bounds = bounds;
    this.whole();
  }

  whole() {
    const { left, right, top, bottom } = this.bounds;
    this.zoom = 1;
    this.x = (left + right) / 2;
    this.y = (top + bottom) / 2;
    this.show();
  }

  // Pixels of a unit of the drawing where all of it is visible.
  base() {
    const { left, right, top, bottom } = this.bounds;
    const { clientWidth, clientHeight } = this.canvas;
    return Math.min((clientWidth - 2 * MARGIN) / (right - left || 1), (clientHeight - 2 * MARGIN) / (bottom - top || 1));
  }

  projection() {
    const scale = this.base() * this.zoom;
    const { clientWidth, clientHeight } = this.canvas;
    return (x, y) => [clientWidth / 2 + (x - this.x) * scale, clientHeight / 2 + (y - this.y) * scale];
  }

  // What is framed is large enough to be seen, with its surroundings.
  frame({ left, right, top, bottom }) {
    const base = this.base();
    const { clientWidth, clientHeight } = this.canvas;
    const room = Math.min(clientWidth / ((right - left) * base || 1e-9), clientHeight / ((bottom - top) * base || 1e-9));
    this.zoom = Math.min(Math.max(1, room * 0.5), 40);
    this.x = (left + right) / 2;
    this.y = (top + bottom) / 2;
    this.show();
  }

  enlarge(factor, px = this.canvas.clientWidth / 2, py = this.canvas.clientHeight / 2) {
    const before = this.base() * this.zoom;
    this.zoom = Math.min(Math.max(1, this.zoom * factor), MOST);
    const after = this.base() * this.zoom;
    // The place beneath the pointer stays there.
    this.x += (px - this.canvas.clientWidth / 2) * (1 / before - 1 / after);
    this.y += (py - this.canvas.clientHeight / 2) * (1 / before - 1 / after);
    this.show();
  }

  pan(dx, dy) {
    const scale = this.base() * this.zoom;
    this.x -= dx / scale;
    this.y -= dy / scale;
    this.show();
  }

  show() {
    const { left, right, top, bottom } = this.bounds;
    if (this.zoom === 1) [this.x, this.y] = [(left + right) / 2, (top + bottom) / 2];
    this.x = Math.min(Math.max(this.x, left), right);
    this.y = Math.min(Math.max(this.y, top), bottom);
    this.canvas.classList.toggle("zoomed", this.zoom > 1);
    this.canvas.dataset.zoom = this.zoom.toFixed(2);
    this.redraw();
  }

  listen() {
    const { canvas } = this;
    addEventListener("wheel", (event) => {
      if (event.target !== canvas) this.scrolled = event.timeStamp;
    }, { passive: true });
    canvas.addEventListener("wheel", (event) => this.turn(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      if (this.pointers.size === 0) this.moved = false;
      this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    });
    canvas.addEventListener("pointermove", (event) => this.drag(event));
    for (const end of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(end, (event) => this.pointers.delete(event.pointerId));
    }
    canvas.addEventListener("keydown", (event) => this.press(event));
  }

  turn(event) {
    const inward = event.deltaY < 0;
    if (!event.ctrlKey && event.timeStamp - this.scrolled < SCROLLING_MS) {
      this.scrolled = event.timeStamp;
      return;
    }
    // Where there is no more to see, the page scrolls.
    if (!inward && this.zoom === 1) return;
    event.preventDefault();
    const box = this.canvas.getBoundingClientRect();
    const lines = event.deltaMode === 1 ? 16 : 1;
    const factor = Math.exp(-Math.max(-200, Math.min(200, event.deltaY * lines)) / (event.ctrlKey ? 100 : 300));
    this.enlarge(factor, event.clientX - box.left, event.clientY - box.top);
  }

  drag(event) {
    const before = this.pointers.get(event.pointerId);
    if (before === undefined) return;
    const now = [event.clientX, event.clientY];
    if (this.pointers.size === 2) {
      this.pinch(event.pointerId, before, now);
    } else {
      const far = Math.hypot(now[0] - before[0], now[1] - before[1]);
      // A click may tremble.
      if (!this.moved && far < 5) return;
      if (this.zoom > 1) {
        this.canvas.setPointerCapture(event.pointerId);
        this.pan(now[0] - before[0], now[1] - before[1]);
      }
      this.moved = true;
    }
    this.pointers.set(event.pointerId, now);
  }

  pinch(id, before, now) {
    const [other] = [...this.pointers].filter(([one]) => one !== id).map(([, at]) => at);
    const length = (at) => Math.hypot(at[0] - other[0], at[1] - other[1]) || 1;
    const box = this.canvas.getBoundingClientRect();
    this.moved = true;
    this.enlarge(length(now) / length(before), (now[0] + other[0]) / 2 - box.left, (now[1] + other[1]) / 2 - box.top);
    this.pan((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
  }

  press(event) {
    const far = event.shiftKey ? 160 : 40;
    const moves = { ArrowUp: [0, far], ArrowDown: [0, -far], ArrowLeft: [far, 0], ArrowRight: [-far, 0] };
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "+" || event.key === "=") this.enlarge(STEP);
    else if (event.key === "-") this.enlarge(1 / STEP);
    else if (event.key === "0" || event.key === "Escape") this.whole();
    else if (event.key in moves && this.zoom > 1) this.pan(...moves[event.key]);
    else return;
    event.preventDefault();
  }
}
