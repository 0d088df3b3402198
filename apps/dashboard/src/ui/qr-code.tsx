import qrcode from "qrcode-generator";

const quietModules = 4;

/** Dark on light in both colour schemes: many scanners cannot read it inverted. */
export function QrCode(props: { value: string; label: string }) {
  const code = qrcode(0, "M");
  code.addData(props.value, "Byte");
  code.make();
  const count = code.getModuleCount();
  const size = count + 2 * quietModules;
  let dark = "";
  for (let row = 0; row < count; row += 1)
    for (let column = 0; column < count; column += 1)
      if (code.isDark(row, column)) dark += `M${column + quietModules} ${row + quietModules}h1v1h-1z`;
  return (
    <svg
      role="img"
      aria-label={props.label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="size-52 rounded-control"
    >
      <rect width={size} height={size} fill="#ffffff" />
      <path d={dark} fill="#000000" />
    </svg>
  );
}
