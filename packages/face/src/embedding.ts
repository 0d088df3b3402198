/**
 * The middle of all faces, as the recognition network sees them: the mean of the means of eight groups, 841
 * generated faces in all (`networks/README.md`). The network places the faces of some groups closely
 * together and far from the middle of the people it was trained with. Measured from there they all look
 * alike, so distances are measured from near the middle of all groups.
 */
// biome-ignore format: one number a line would be 128 lines
export const embeddingCentre: readonly number[] = [
  -0.1205, 0.0826, 0.0595, -0.069, -0.0857, -0.0486, -0.0524, -0.093, 0.162, -0.1131, 0.2095, -0.0374,
  -0.1762, -0.0656, -0.0257, 0.1718, -0.2043, -0.1349, -0.0611, -0.03, 0.0418, 0.0199, 0.0073, 0.0597,
  -0.1299, -0.3575, -0.0754, -0.1065, 0.0051, -0.0515, -0.0306, 0.0465, -0.2096, -0.046, 0.0118, 0.0699,
  -0.0185, -0.067, 0.1645, 0.0189, -0.2023, -0.024, 0.0546, 0.2463, 0.1827, 0.0308, 0.0234, -0.0854, 0.1027,
  -0.2024, 0.0156, 0.1373, 0.0684, 0.0623, 0.0587, -0.1381, 0.0362, 0.0902, -0.1633, 0.0107, 0.0365,
  -0.0468, -0.0259, -0.0782, 0.2663, 0.0824, -0.1183, -0.1364, 0.1459, -0.1149, -0.0585, 0.0546, -0.1343,
  -0.1783, -0.2897, 0.0083, 0.3914, 0.1208, -0.1786, 0.051, -0.1007, -0.0453, 0.0811, 0.1162, -0.018,
  0.0259, -0.0685, 0.022, 0.2009, -0.0278, -0.0121, 0.2, -0.0238, 0.011, -0.0044, 0.0038, -0.1094, 0.0302,
  -0.1178, -0.0305, 0.0275, -0.0165, -0.013, 0.1188, -0.1793, 0.1126, 0.0157, -0.0126, -0.0011, 0.0122,
  -0.1038, -0.071, 0.1164, -0.234, 0.1888, 0.168, 0.0305, 0.1464, 0.0732, 0.0629, -0.022, -0.0118, -0.1768,
  -0.0338, 0.0842, -0.033, 0.0659, 0.0093,
];

/**
 * How far towards that middle distances are measured from. 0 is the network's own origin: 45 % of strangers
 * match in a set from China. 1 is the middle: 1 % match among photographs of the news, 0.2 % before. Chosen
 * on one half of those people; docs/face-error-rates.md has the figures of the other.
 */
const share = 0.85;

/**
 * Radius of the sphere on which embeddings lie. Distances of one person then have the size that they had in
 * the network's own numbers, so a distance that an operator has set keeps its meaning.
 */
const radius = 0.7;

/**
 * The embedding of a face, from what the network makes of it: a direction. Distances of embeddings are
 * Euclidean (`distanceOf`).
 */
export function embeddingOf(seen: ArrayLike<number>): number[] {
  const direction = embeddingCentre.map((middle, at) => (seen[at] ?? 0) - share * middle);
  const length = Math.hypot(...direction);
  return direction.map((value) => (value / length) * radius);
}
