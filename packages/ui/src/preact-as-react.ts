/**
 * Build aliases that replace React by Preact. The source of both pages keeps the name React: libraries ask
 * for it, and `packages/ui` is shared.
 */
export const preactAsReact = [
  { find: /^react-dom\/client$/, replacement: "preact/compat/client" },
  { find: /^react\/jsx-(dev-)?runtime$/, replacement: "preact/jsx-runtime" },
  { find: /^react(-dom)?$/, replacement: "preact/compat" },
];
