// Names beside points so that none covers another: the first wanted come first.

const GAP = 8;
const HEIGHT = 14;
const POINT = 2;

function overlap(a, b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

// Right of the point, left, above, below; moved inwards at the border.
function boxes([x, y], wide, width, height) {
  const box = (wantedLeft, wantedTop) => {
    const left = Math.max(0, Math.min(wantedLeft, width - wide));
    const top = Math.max(0, Math.min(wantedTop, height - HEIGHT));
    return { left, top, right: left + wide, bottom: top + HEIGHT };
  };
  return [
    box(x + GAP, y - HEIGHT / 2), box(x - GAP - wide, y - HEIGHT / 2),
    box(x - wide / 2, y - GAP - HEIGHT), box(x - wide / 2, y + GAP),
  ];
}

function covers(box, [x, y]) {
  return x > box.left - POINT && x < box.right + POINT && y > box.top - POINT && y < box.bottom + POINT;
}

// wanted: { at: [x, y], text, wide, strong }; the boxes of those that have a place, with their text.
// points: those that only a strong name may cover.
export function placeLabels(wanted, points, width, height) {
  const placed = [];
  for (const { at, text, wide, strong } of wanted) {
    const free = boxes(at, wide, width, height).find((box) => !placed.some((other) => overlap(box, other))
      && (strong || !points.some((point) => covers(box, point))));
    if (free !== undefined) placed.push({ ...free, text, strong });
  }
  return placed;
}
