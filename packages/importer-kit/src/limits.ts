/** Bounds of an import. What exceeds them is refused with a message that names the limit. */
export interface ImportLimits {
  /** Nodes of one file. */
  readonly nodes: number;
  /** Levels of nested JSON. */
  readonly depth: number;
}

/** A longer expression or text is kept as it is, and not understood. */
export const MAX_EXPRESSION_LENGTH = 20_000;
/** Longer code is kept in a placeholder: nobody would read it in a node. */
export const MAX_CODE_LENGTH = 200_000;
