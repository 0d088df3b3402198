export function Palette(_props: { onClose: () => void }) {
  return null;
}
