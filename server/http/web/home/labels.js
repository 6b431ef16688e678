// Places names next to points so that none covers another name or a path, in order of priority.

const GAP = 8;
const HEIGHT = 14;
const POINT = 2;

function overlap(a, b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

// Right of the point, left, above, below, and at the four corners between them.
function boxes([x, y], wide) {
  const box = (left, top) => ({ left, top, right: left + wide, bottom: top + HEIGHT });
  const [right, left] = [x + GAP, x - GAP - wide];
  const [above, below] = [y - GAP - HEIGHT, y + GAP];
  return [
    box(right, y - HEIGHT / 2), box(left, y - HEIGHT / 2), box(x - wide / 2, above), box(x - wide / 2, below),
    box(right, above), box(right, below), box(left, above), box(left, below),
  ];
}

function covers(box, [x, y]) {
  return x > box.left - POINT && x < box.right + POINT && y > box.top - POINT && y < box.bottom + POINT;
}

// wanted: the labels, { at: [x, y], text, wide, strong }. Returns the box and the text of each that fits.
// path: points that no name may cover; points: those that only a strong name may cover.
export function placeLabels(wanted, { path, points }, width, height) {
  const placed = [];
  const isFree = (box, strong) => box.left >= 0 && box.top >= 0 && box.right <= width && box.bottom <= height
    && !placed.some((other) => overlap(box, other)) && !path.some((point) => covers(box, point))
    && (strong || !points.some((point) => covers(box, point)));
  for (const { at, text, wide, strong } of wanted) {
    const box = boxes(at, wide).find((one) => isFree(one, strong));
    if (box !== undefined) placed.push({ ...box, text, strong });
  }
  return placed;
}
