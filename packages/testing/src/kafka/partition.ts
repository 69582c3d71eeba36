/** A partition as it is stored: batches in the order of their offsets. */
export interface Partition {
  readonly batches: { first: number; last: number; bytes: Buffer; time: number }[];
  start: number;
  end: number;
}

/** Whole batches from the one with the offset on; the first one even if it is larger than what was asked for. */
export function takeBatches({ batches }: Partition, offset: number, max: number, mayExceed: boolean): Buffer {
  const taken: Buffer[] = [];
  let size = 0;
  for (const { last, bytes } of batches) {
    if (last < offset) continue;
    if (size + bytes.length > max && !(mayExceed && size === 0)) break;
    taken.push(bytes);
    size += bytes.length;
  }
  return Buffer.concat(taken);
}
