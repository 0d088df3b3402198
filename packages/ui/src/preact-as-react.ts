/**
 * Preact in the place of React, whose name stays in the source of both pages: libraries ask for it, and `packages/ui`
 * is shared. The list is what the build tool calls aliases.
 */
export const preactAsReact = [
  { find: /^react-dom\/client$/, replacement: "preact/compat/client" },
  { find: /^react\/jsx-(dev-)?runtime$/, replacement: "preact/jsx-runtime" },
  { find: /^react(-dom)?$/, replacement: "preact/compat" },
];
