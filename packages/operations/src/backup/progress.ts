/** Called after each part of a table, and of the contents of files. */
export type OnProgress = (progress: {
  readonly table: string;
  /** Of all tables so far, before compression. */
  readonly bytes: number;
}) => void;
