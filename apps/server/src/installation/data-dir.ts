/**
 * The mode with which DATA_DIR is made. It holds the key ring, so nobody else may look into it. As root the database runs under
 * another account, which has to pass through the folder to reach its own files; the key ring stays closed to it.
 */
export function dataDirMode(): number {
  return process.geteuid?.() === 0 ? 0o711 : 0o700;
}
