import { setImmediate as turn } from 'node:timers/promises';
import { ByteReader, ByteWriter, KafkaProtocolError } from './bytes.ts';
import { decompress } from './compression/decompress.ts';
import { crc32c } from './crc32c.ts';

/** Of one batch of records. What producers send has a megabyte by default, before it is compressed. */
export const MAX_BATCH_BYTES = 16 * 1024 * 1024;
/** Offset, length, and what stands before the number of records. */
const LENGTH_AT = 8;
const BATCH_FROM = 12;
const HEADER_BYTES = 61;
const MAX_HEADERS = 1_000;
/** Records between looks at the clock, and how long the main thread is held. */
const LOOK_AFTER = 200;
const SLICE_MS = 8;

export interface KafkaRecord {
  readonly offset: number;
  /** Epoch milliseconds; null if there is none. */
  readonly timestamp: number | null;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly (readonly [name: string, value: Buffer | null])[];
  readonly size: number;
}

/** A transaction that was aborted: what its producer wrote from an offset on doesn't count. */
export interface AbortedTransaction {
  readonly producerId: bigint;
  readonly firstOffset: number;
}

/** Either a record, or up to where there is nothing more to give: the next offset to ask for. */
export type Step = { readonly record: KafkaRecord } | { readonly upTo: number };

/**
 * Records of a partition from an offset on, as they were fetched: whole batches, of which the first may begin earlier and the last may be cut
 * off. Those of aborted transactions, and the markers of transactions, are left out. The main thread is left to others in between.
 * @throws KafkaProtocolError
 */
export async function* readRecords(
  bytes: Buffer,
  from: number,
  aborted: readonly AbortedTransaction[],
): AsyncGenerator<Step> {
  const pending = aborted.toSorted((a, b) => a.firstOffset - b.firstOffset);
  const discarded = new Set<bigint>();
  for (let at = 0; at + BATCH_FROM <= bytes.length; ) {
    const length = bytes.readInt32BE(at + LENGTH_AT);
    if (length < HEADER_BYTES - BATCH_FROM) throw new KafkaProtocolError('a batch of messages is damaged');
    const end = at + BATCH_FROM + length;
    if (end > bytes.length) {
      if (at === 0) throw new KafkaProtocolError(`a batch of ${length} bytes was not sent completely`);
      return;
    }
    const batch = headerOf(bytes.subarray(at, end));
    at = end;
    while ((pending[0]?.firstOffset ?? Number.MAX_VALUE) <= batch.lastOffset) {
      const [next] = pending.splice(0, 1);
      if (next !== undefined) discarded.add(next.producerId);
    }
    if (batch.isControl) {
      if (await isAbort(batch)) discarded.delete(batch.producerId);
    } else if (!(batch.isTransactional && discarded.has(batch.producerId)) && batch.lastOffset >= from) {
      yield* recordsOf(batch, from);
    }
    yield { upTo: Math.max(from, batch.lastOffset + 1) };
  }
}

interface BatchHeader {
  readonly firstOffset: number;
  readonly lastOffset: number;
  readonly codec: number;
  readonly isControl: boolean;
  readonly isTransactional: boolean;
  /** Of all records, if the broker sets it instead of their producer. */
  readonly appendedAt: number | null;
  readonly firstTimestamp: number;
  readonly producerId: bigint;
  readonly count: number;
  readonly body: Buffer;
}

function headerOf(bytes: Buffer): BatchHeader {
  const reader = new ByteReader(bytes);
  const firstOffset = reader.int64();
  // Length and the leader's epoch.
  reader.raw(8);
  const magic = reader.int8();
  if (magic !== 2) throw new KafkaProtocolError('messages have the format of Kafka before 0.11');
  // The checksum is for disks; TCP has its own.
  reader.raw(4);
  const attributes = reader.int16();
  const lastOffset = firstOffset + reader.int32();
  const firstTimestamp = reader.int64();
  const lastTimestamp = reader.int64();
  const producerId = reader.bigint();
  // The producer's epoch and sequence.
  reader.raw(6);
  const count = reader.int32();
  return {
    ...{ firstOffset, lastOffset, firstTimestamp, producerId, count },
    codec: attributes & 7,
    appendedAt: (attributes & 8) === 0 ? null : lastTimestamp,
    isTransactional: (attributes & 16) !== 0,
    isControl: (attributes & 32) !== 0,
    body: reader.raw(reader.left),
  };
}

async function* recordsOf(batch: BatchHeader, from: number): AsyncGenerator<Step> {
  const reader = new ByteReader(await decompress(batch.codec, batch.body, MAX_BATCH_BYTES));
  let startedAt = performance.now();
  for (let index = 0; index < batch.count; index += 1) {
    const record = recordOf(reader, batch);
    if (record.offset >= from) yield { record };
    if (index % LOOK_AFTER !== 0 || performance.now() - startedAt < SLICE_MS) continue;
    await turn();
    startedAt = performance.now();
  }
}

function recordOf(outer: ByteReader, { firstOffset, firstTimestamp, appendedAt }: BatchHeader): KafkaRecord {
  const length = outer.varint();
  const reader = new ByteReader(outer.raw(length));
  reader.int8();
  const timestamp = appendedAt ?? firstTimestamp + reader.varint();
  if (appendedAt !== null) reader.varint();
  const offset = firstOffset + reader.varint();
  const key = reader.varbytes();
  const value = reader.varbytes();
  const count = reader.varint();
  if (count < 0 || count > reader.left) throw new KafkaProtocolError(`a message with ${count} headers`);
  const headers = Array.from(
    { length: Math.min(count, MAX_HEADERS) },
    () => [reader.varbytes()?.toString('utf8') ?? '', reader.varbytes()] as const,
  );
  return { offset, timestamp: timestamp < 0 ? null : timestamp, key, value, headers, size: length };
}

/** Whether a marker ends a transaction without its records. */
async function isAbort(batch: BatchHeader): Promise<boolean> {
  const reader = new ByteReader(await decompress(batch.codec, batch.body, MAX_BATCH_BYTES));
  const { key } = recordOf(reader, batch);
  return key !== null && key.length >= 4 && key.readInt16BE(2) === 0;
}

/** A message to send. */
export interface OutgoingRecord {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly (readonly [name: string, value: Buffer])[];
}

/** One batch of messages as a broker stores it, not compressed. */
export function writeBatch(records: readonly OutgoingRecord[], nowMs: number): Buffer {
  const body = new ByteWriter();
  for (const [index, { key, value, headers }] of records.entries()) {
    const record = new ByteWriter().int8(0).varint(0).varint(index).varbytes(key).varbytes(value);
    record.varint(headers.length);
    for (const [name, content] of headers) record.varbytes(Buffer.from(name)).varbytes(content);
    body.varbytes(record.result());
  }
  const checked = new ByteWriter()
    .int16(0)
    .int32(records.length - 1)
    .int64(nowMs)
    .int64(nowMs)
    // No producer id, epoch or sequence: the broker doesn't look for messages that it has.
    .int64(-1)
    .int16(-1)
    .int32(-1)
    .int32(records.length)
    .raw(body.result())
    .result();
  return (
    new ByteWriter()
      .int64(0)
      // What follows: the leader's epoch, the format, the checksum, and what it covers.
      .int32(9 + checked.byteLength)
      .int32(-1)
      .int8(2)
      .int32(crc32c(checked))
      .raw(checked)
      .result()
  );
}
