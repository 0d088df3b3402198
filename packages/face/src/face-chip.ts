/**
 * The alignment with which the face network was trained: each face is turned, scaled and moved onto the mean
 * face. Other alignments are recognized less often (docs/face-error-rates.md).
 */

/** Side of the square that the recognition network is shown. */
export const chipPixels = 150;
/**
 * Margin around the mean face on each side, in sides of the mean face.
 * Part of the training, like the points below.
 */
const chipPadding = 0.25;

/**
 * The landmarks of the 68, by number, that move least with the expression: nose, eyes and upper lip.
 * Coordinates are those of dlib's mean face (get_face_chip_details, `dlib/image_transforms/interpolation.h`),
 * the origin of the network.
 */
const meanFace: readonly (readonly [landmark: number, x: number, y: number])[] = [
  ...([
    [27, 0.490127, 0.203352],
    [28, 0.490127, 0.307009],
    [29, 0.490127, 0.409805],
  ] as const),
  ...([
    [30, 0.490127, 0.515625],
    [31, 0.36688, 0.587326],
    [32, 0.426036, 0.609345],
  ] as const),
  ...([
    [33, 0.490127, 0.628106],
    [34, 0.554217, 0.609345],
    [35, 0.613373, 0.587326],
  ] as const),
  ...([
    [36, 0.121737, 0.216423],
    [37, 0.187122, 0.178758],
    [38, 0.265825, 0.179852],
  ] as const),
  ...([
    [39, 0.334606, 0.231733],
    [40, 0.260918, 0.245099],
    [41, 0.182743, 0.244077],
  ] as const),
  ...([
    [42, 0.645647, 0.231733],
    [43, 0.714428, 0.179852],
    [44, 0.793132, 0.178758],
  ] as const),
  ...([
    [45, 0.858516, 0.216423],
    [46, 0.79751, 0.244077],
    [47, 0.719335, 0.245099],
  ] as const),
  ...([
    [48, 0.254149, 0.780233],
    [49, 0.340985, 0.745405],
    [50, 0.428858, 0.727388],
  ] as const),
  ...([
    [51, 0.490127, 0.742578],
    [52, 0.551395, 0.727388],
    [53, 0.639268, 0.745405],
  ] as const),
  ...([
    [54, 0.726104, 0.780233],
    [60, 0.290379, 0.784792],
    [61, 0.428096, 0.778746],
  ] as const),
  ...([
    [62, 0.490127, 0.785343],
    [63, 0.552157, 0.778746],
    [64, 0.689874, 0.784792],
  ] as const),
];

const chipPoints = meanFace.map(([landmark, x, y]) => {
  const inChip = (share: number) => ((share + chipPadding) / (1 + 2 * chipPadding)) * chipPixels;
  return { landmark, u: inChip(x), v: inChip(y) };
});

/** Maps chip to picture: x = left + along·u − across·v, y = top + across·u + along·v. */
export type Chip = {
  readonly left: number;
  readonly top: number;
  readonly along: number;
  readonly across: number;
};

/**
 * The chip of a face from its 68 landmarks, in pixels of the picture. It is the similarity transform with the
 * least squared error between mean face and landmarks.
 */
export function chipOf(landmarks: ArrayLike<number>): Chip {
  const points = chipPoints.map(({ landmark, u, v }) => ({
    u,
    v,
    x: landmarks[2 * landmark] ?? 0,
    y: landmarks[2 * landmark + 1] ?? 0,
  }));
  const mean = (of: (point: (typeof points)[number]) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [u, v, x, y] = [
    mean((point) => point.u),
    mean((point) => point.v),
    mean((point) => point.x),
    mean((point) => point.y),
  ];
  let [along, across, spread] = [0, 0, 0];
  for (const point of points) {
    // These sum to zero, so it does not matter from where the picture's points are measured.
    const [du, dv] = [point.u - u, point.v - v];
    along += du * point.x + dv * point.y;
    across += du * point.y - dv * point.x;
    spread += du * du + dv * dv;
  }
  along /= spread;
  across /= spread;
  return { left: x - along * u + across * v, top: y - across * u - along * v, along, across };
}
