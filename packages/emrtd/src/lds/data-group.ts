export type DataGroupNumber = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15 | 16;

/** The tag that each data group's file starts with, which is also how EF.COM names it. */
export const dataGroupTags: Readonly<Record<DataGroupNumber, number>> = {
  1: 0x61,
  2: 0x75,
  3: 0x63,
  4: 0x76,
  5: 0x65,
  6: 0x66,
  7: 0x67,
  8: 0x68,
  9: 0x69,
  10: 0x6a,
  11: 0x6b,
  12: 0x6c,
  13: 0x6d,
  14: 0x6e,
  15: 0x6f,
  16: 0x70,
};

export const comTag = 0x60;
export const sodTag = 0x77;

export function isDataGroupNumber(number: number): number is DataGroupNumber {
  return Number.isInteger(number) && number >= 1 && number <= 16;
}
