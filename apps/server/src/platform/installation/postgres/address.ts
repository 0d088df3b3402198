/** The superuser, which only the launcher and `assay backup` use. Earlier releases connect as this role. */
export const adminRole = "assay";
/** The role of the service. It owns the database and is not a superuser. */
export const serviceRole = "assay_service";
/** The passwords of the two roles. */
export type Passwords = { readonly admin: string; readonly service: string };
export const database = "assay";
/** The port only names the socket file; nothing listens on the network. */
export const port = 5432;

export function socketUrl(socketFolder: string, user: string, password: string): string {
  const query = new URLSearchParams({ host: socketFolder, port: String(port), user, password });
  return `postgresql:///${database}?${query}`;
}
/** The last sentence of a message with an alternative. */
export const orUseAnotherServer = "Or set DATABASE_URL to a PostgreSQL server (15 or newer).";
