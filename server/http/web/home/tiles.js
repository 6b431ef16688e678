// The map beneath a drawing: pictures of 256 pixels, of which 2^zoom times 2^zoom are the world.

const SIZE = 256;
const DEEPEST = 19;
const KEPT = 300;
// The square world of the Mercator projection ends here.
const STEEPEST = 85.0511;

// Degrees north as far from the equator as on the map, where a degree east is 1.
export function mercator(latitude) {
  const angle = (Math.min(Math.max(latitude, -STEEPEST), STEEPEST) * Math.PI) / 180;
  return (Math.log(Math.tan(Math.PI / 4 + angle / 2)) * 180) / Math.PI;
}

export class Tiles {
  // template: an address with {z}, {x} and {y}.
  constructor(template, redraw) {
    this.template = template;
    this.redraw = redraw;
    this.pictures = new Map();
  }

  picture(z, x, y) {
    const address = this.template.replace("{z}", z).replace("{x}", x).replace("{y}", y);
    let picture = this.pictures.get(address);
    if (picture === undefined) {
      picture = new Image();
      // Whose map it is wants to know where it is shown.
      picture.referrerPolicy = "origin";
      picture.addEventListener("load", this.redraw);
      picture.src = address;
      // The oldest goes.
      if (this.pictures.size >= KEPT) this.pictures.delete(this.pictures.keys().next().value);
      this.pictures.set(address, picture);
    }
    return picture;
  }

  // at: the projection of degrees east and of mercator(degrees south).
  paint({ context, width, height }, at) {
    const [left, top] = at(-180, -180);
    const world = at(180, -180)[0] - left;
    const z = Math.min(Math.max(Math.round(Math.log2(world / SIZE)), 0), DEEPEST);
    const side = world / 2 ** z;
    const clamp = (place) => Math.min(Math.max(Math.floor(place), 0), 2 ** z - 1);
    for (let x = clamp(-left / side); x <= clamp((width - left) / side); x += 1) {
      for (let y = clamp(-top / side); y <= clamp((height - top) / side); y += 1) {
        const picture = this.picture(z, x, y);
        if (picture.naturalWidth > 0) context.drawImage(picture, left + x * side, top + y * side, side, side);
      }
    }
  }
}
