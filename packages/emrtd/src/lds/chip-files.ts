type DataGroupName = `DG${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15 | 16}`;
export type ChipFileName = "AtrInfo" | "CardAccess" | "CardSecurity" | "COM" | "SOD" | DataGroupName;

type ChipFileAddress = {
  readonly fileId: number;
  readonly shortId: number;
  /** The master file is readable before the application is selected. */
  readonly directory: "master" | "application";
};

function dataGroup(number: number): ChipFileAddress {
  return { fileId: 0x0100 + number, shortId: number, directory: "application" };
}

/** ICAO Doc 9303-10, section 4.6. */
export const chipFiles: Readonly<Record<ChipFileName, ChipFileAddress>> = {
  AtrInfo: { fileId: 0x2f01, shortId: 0x01, directory: "master" },
  CardAccess: { fileId: 0x011c, shortId: 0x1c, directory: "master" },
  CardSecurity: { fileId: 0x011d, shortId: 0x1d, directory: "master" },
  COM: { fileId: 0x011e, shortId: 0x1e, directory: "application" },
  SOD: { fileId: 0x011d, shortId: 0x1d, directory: "application" },
  DG1: dataGroup(1),
  DG2: dataGroup(2),
  DG3: dataGroup(3),
  DG4: dataGroup(4),
  DG5: dataGroup(5),
  DG6: dataGroup(6),
  DG7: dataGroup(7),
  DG8: dataGroup(8),
  DG9: dataGroup(9),
  DG10: dataGroup(10),
  DG11: dataGroup(11),
  DG12: dataGroup(12),
  DG13: dataGroup(13),
  DG14: dataGroup(14),
  DG15: dataGroup(15),
  DG16: dataGroup(16),
};

/** The application with the travel document's data groups. */
export const ldsApplicationId = Uint8Array.of(0xa0, 0x00, 0x00, 0x02, 0x47, 0x10, 0x01);
