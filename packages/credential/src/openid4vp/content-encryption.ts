/** HAIP 1.0: a verifier supports and lists both. */
export const contentEncryptions = ["A128GCM", "A256GCM"] as const;
