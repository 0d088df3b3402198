import { useEffect, useState } from "react";

const quietModules = 4;

/**
 * Drawn as one path, black on white in every colour scheme, because cameras need that. A `long` text has many
 * small modules: it is drawn larger, and with less redundancy.
 */
export function QrCode({ text, label, long = false }: { text: string; label: string; long?: boolean }) {
  const [drawn, setDrawn] = useState<{ size: number; path: string } | null>(null);
  useEffect(() => {
    let current = true;
    void import("qrcode-generator").then(({ default: qrcode }) => {
      const code = qrcode(0, long ? "L" : "M");
      code.addData(text, "Byte");
      code.make();
      const count = code.getModuleCount();
      let path = "";
      for (let row = 0; row < count; row++)
        for (let column = 0; column < count; column++)
          if (code.isDark(row, column)) path += `M${column + quietModules} ${row + quietModules}h1v1h-1z`;
      if (current) setDrawn({ size: count + 2 * quietModules, path });
    });
    return () => {
      current = false;
    };
  }, [text, long]);
  const size = drawn?.size ?? 1;
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className={`mx-auto block w-full rounded-control bg-white ${long ? "max-w-lg" : "max-w-64"}`}
    >
      <rect width={size} height={size} fill="#fff" />
      {drawn !== null && <path d={drawn.path} fill="#000" />}
    </svg>
  );
}
