/** An answer as it leaves: the status and the body as text, null where there is none. */
export type RenderedAnswer = { status: number; text: string | null };
