/** A message to a model, and its answer. */
export interface MemoryTurn {
  readonly user: string;
  readonly assistant: string;
}

/** What models remember of the workflow's conversations, each under a key. */
export interface MemoryService {
  /** Earlier turns, oldest first, without this node's own. @throws ServiceError invalid_memory_key */
  read(key: string): Promise<{ readonly summary: string | null; readonly turns: readonly MemoryTurn[] }>;
  /**
   * Remembers a turn, once for each node however often it runs.
   * @param options.summary replaces the former summary and the turns it was made of
   * @throws ServiceError invalid_memory_key
   */
  remember(
    key: string,
    turn: MemoryTurn,
    options: {
      readonly summary: { readonly text: string; readonly of: readonly MemoryTurn[] } | null;
      readonly ttlS: number;
    },
  ): Promise<void>;
}
