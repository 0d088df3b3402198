/** The texts with places, by their path. A plural is not listed: its one place is `{count}`. A test compares this with en.json. */
export const places = {} as const;
