import type { AbortedTransaction } from '../records.ts';
import type { Offsets } from './group.ts';
import type { Request } from './request.ts';

/** Offsets that stand for the first message there is, and for the one that comes next. */
export const EARLIEST = -2;
export const LATEST = -1;
/** Records of transactions that are open or were aborted aren't given out. */
const READ_COMMITTED = 1;

export interface FetchedPartition {
  readonly topic: string;
  readonly partition: number;
  readonly error: number;
  readonly aborted: readonly AbortedTransaction[];
  readonly records: Buffer | null;
}

/** @param offsets where to read on */
export function fetchMessages(
  version: number,
  offsets: Offsets,
  limits: { readonly waitMs: number; readonly maxBytes: number; readonly partitionBytes: number },
): Request<{ readonly error: number; readonly partitions: readonly FetchedPartition[] }> {
  const isNew = version >= 11;
  return {
    ...{ api: 'fetch', version },
    write: (writer) => {
      writer.int32(-1).int32(limits.waitMs).int32(1).int32(limits.maxBytes).int8(READ_COMMITTED);
      // No session: each request says what it wants.
      if (isNew) writer.int32(0).int32(-1);
      writer.array([...offsets], ([topic, partitions]) => {
        writer.string(topic).array([...partitions], ([partition, offset]) => {
          writer.int32(partition);
          if (isNew) writer.int32(-1);
          writer.int64(offset);
          if (isNew) writer.int64(-1);
          writer.int32(limits.partitionBytes);
        });
      });
      if (isNew) writer.array([], () => undefined).string('');
    },
    read: (reader) => {
      reader.int32();
      const error = isNew ? reader.int16() : 0;
      if (isNew) reader.int32();
      const partitions = reader.array(() => {
        const topic = reader.text();
        return reader.array(() => {
          const partition = reader.int32();
          const failed = reader.int16();
          reader.raw(isNew ? 24 : 16);
          const aborted = reader.array(() => ({
            producerId: reader.bigint(),
            firstOffset: reader.int64(),
          }));
          if (isNew) reader.int32();
          return { topic, partition, error: failed, aborted, records: reader.bytes() };
        });
      });
      return { error, partitions: partitions.flat() };
    },
  };
}

/** @param wanted {@link EARLIEST} or {@link LATEST}, by topic and partition */
export function listOffsets(
  version: number,
  wanted: Offsets,
): Request<{ readonly error: number; readonly offsets: Offsets }> {
  return {
    ...{ api: 'listOffsets', version },
    write: (writer) => {
      writer.int32(-1).int8(READ_COMMITTED);
      writer.array([...wanted], ([topic, partitions]) => {
        writer.string(topic).array([...partitions], ([partition, time]) => {
          writer.int32(partition).int64(time);
        });
      });
    },
    read: (reader) => {
      reader.int32();
      let error = 0;
      const topics = reader.array(() => {
        const name = reader.text();
        const partitions = reader.array(() => {
          const partition = reader.int32();
          error ||= reader.int16();
          reader.int64();
          return [partition, reader.int64()] as const;
        });
        return [name, new Map(partitions)] as const;
      });
      return { error, offsets: new Map(topics) };
    },
  };
}

/** Sends one batch to a partition; all replicas in sync have it when the answer comes. */
export function produce(
  version: number,
  target: { readonly topic: string; readonly partition: number; readonly timeoutMs: number },
  batch: Buffer,
): Request<{ readonly error: number; readonly offset: number }> {
  return {
    ...{ api: 'produce', version },
    write: (writer) => {
      writer.string(null).int16(-1).int32(target.timeoutMs);
      writer.array([target], ({ topic, partition }) => {
        writer.string(topic).array([partition], () => writer.int32(partition).bytes(batch));
      });
    },
    read: (reader) => {
      const [answers = []] = reader.array(() => {
        reader.string();
        return reader.array(() => {
          reader.int32();
          const error = reader.int16();
          const offset = reader.int64();
          reader.int64();
          return { error, offset };
        });
      });
      return answers[0] ?? { error: -1, offset: -1 };
    },
  };
}
