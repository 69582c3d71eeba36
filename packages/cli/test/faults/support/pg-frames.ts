const LENGTH_BYTES = 4;

/**
 * Counts messages in one direction of a PostgreSQL connection, however the bytes are split.
 *
 * @param types first bytes of the messages that count: `S` is Sync, `Q` is a simple query, `Z` is ReadyForQuery
 * @param startsUntyped true for the client's side, whose first message has no type
 */
export function countFrames(types: string, startsUntyped: boolean): (data: Buffer) => number {
  let rest: Buffer = Buffer.alloc(0);
  let typeBytes = startsUntyped ? 0 : 1;
  return (data) => {
    let count = 0;
    rest = rest.length === 0 ? data : Buffer.concat([rest, data]);
    while (rest.length >= typeBytes + LENGTH_BYTES) {
      const end = typeBytes + rest.readInt32BE(typeBytes);
      if (rest.length < end) break;
      if (typeBytes === 1 && types.includes(String.fromCharCode(rest[0] ?? 0))) count += 1;
      rest = rest.subarray(end);
      typeBytes = 1;
    }
    return count;
  };
}
