export const zoneShapes = ["TD1", "TD2", "TD3"] as const;
export type ZoneShape = (typeof zoneShapes)[number];

export const zoneSizes: Readonly<Record<ZoneShape, { readonly lines: number; readonly characters: number }>> =
  {
    TD1: { lines: 3, characters: 30 },
    TD2: { lines: 2, characters: 36 },
    TD3: { lines: 2, characters: 44 },
  };
