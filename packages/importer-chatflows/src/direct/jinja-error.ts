/** A template can't be read: it uses something that isn't known here. */
export class JinjaError extends Error {}

/** Statements and expressions nested more deeply aren't read. */
export const MAX_DEPTH = 40;
