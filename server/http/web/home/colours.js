// Viridis by S. van der Walt and N. Smith, at every ninth of its range: evenly brighter for any
// colour vision.

const stops = [
  [0x44, 0x01, 0x54], [0x48, 0x28, 0x78], [0x3e, 0x4a, 0x89], [0x31, 0x68, 0x8e], [0x26, 0x82, 0x8e],
  [0x1f, 0x9e, 0x89], [0x35, 0xb7, 0x79], [0x6e, 0xce, 0x58], [0xb5, 0xde, 0x2b], [0xfd, 0xe7, 0x25],
];

// part: from 0 to 1.
export function viridis(part) {
  const at = Math.min(Math.max(part, 0), 1) * (stops.length - 1);
  const below = Math.min(Math.floor(at), stops.length - 2);
  const mixed = stops[below].map((low, i) => Math.round(low + (at - below) * (stops[below + 1][i] - low)));
  return `rgb(${mixed.join(" ")})`;
}
