/** In a file of its own: `service.ts` loads the whole service, which tests of started processes do not need. */
export const testRing = `1:${Buffer.alloc(32, 1).toString("base64")}`;
