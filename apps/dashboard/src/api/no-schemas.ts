/**
 * Stands for the schema library in this app (see vite.config.ts). Schemas are for the service, which checks with them,
 * and for the compiler, which reads their types; the client takes only method and path of a route. The library and what
 * it builds would be a tenth of the first screen.
 */
const nothing = Object.freeze({});
export const Type = new Proxy({}, { get: () => () => nothing });
