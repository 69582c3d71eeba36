import { ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';
import type { KafkaCluster } from './cluster.ts';
import { CODE, refusal } from './errors.ts';
import { partitionOf } from './partitioner.ts';
import { produce } from './protocol/data.ts';
import { type OutgoingRecord, writeBatch } from './records.ts';

export interface OutgoingMessage extends OutgoingRecord {
  /** Null: by its key; without one, any. */
  readonly partition: number | null;
}

/** Where a message is. */
export interface Sent {
  readonly partition: number;
  readonly offset: number;
}

/** The broker may have stored the messages although it says that something failed. */
const UNCLEAR: readonly number[] = [-1, 7, 13, 20];

/**
 * Sends messages to a topic: those of a partition in their order, as one batch. All replicas in sync have them when this resolves.
 * @param choice a number from 0 to 1 that chooses the partition of messages without a key
 * @returns where each message is
 * @throws ServiceError kafka_*; kafka_outcome_unknown if some may have been stored
 */
export async function sendMessages(
  cluster: KafkaCluster,
  topic: string,
  messages: readonly OutgoingMessage[],
  {
    timeoutMs,
    nowMs,
    choice,
  }: { readonly timeoutMs: number; readonly nowMs: number; readonly choice: number },
): Promise<readonly Sent[]> {
  const leaders = (await cluster.leaders([topic])).get(topic) ?? new Map<number, number>();
  const sent: Sent[] = [];
  for (const [partition, indexes] of byPartition(messages, leaders.size, choice)) {
    const leader = leaders.get(partition);
    if (leader === undefined) {
      throw new ServiceError(
        'kafka_refused',
        message('ports.kafka_no_partition', { topic, partition, partitions: leaders.size }),
      );
    }
    const batch = writeBatch(
      indexes.flatMap((index) => messages[index] ?? []),
      nowMs,
    );
    const offset = await sendBatch(cluster, leader, { topic, partition, timeoutMs }, batch).catch(
      (error: unknown) => {
        // The batches before this one are there.
        throw sent.length > 0 ? unknownOutcome(topic, error) : error;
      },
    );
    for (const [at, index] of indexes.entries()) sent[index] = { partition, offset: offset + at };
  }
  return sent;
}

async function sendBatch(
  cluster: KafkaCluster,
  leader: number,
  target: { readonly topic: string; readonly partition: number; readonly timeoutMs: number },
  batch: Buffer,
): Promise<number> {
  const { topic } = target;
  const broker = await cluster.broker(leader);
  const request = produce(broker.version('produce'), target, batch);
  const { error, offset } = await broker.call(request, target.timeoutMs).catch((cause: unknown) => {
    throw unknownOutcome(topic, cause);
  });
  if (error === CODE.none) return offset;
  const refused = refusal(error, { where: broker.where, subject: topic });
  throw UNCLEAR.includes(error) ? unknownOutcome(topic, refused) : refused;
}

function unknownOutcome(topic: string, cause: unknown): ServiceError {
  return new ServiceError('kafka_outcome_unknown', message('ports.kafka_outcome_unknown', { topic }), {
    cause,
  });
}

/** Indexes of messages by their partition, in their order. */
function byPartition(
  messages: readonly OutgoingMessage[],
  count: number,
  choice: number,
): ReadonlyMap<number, readonly number[]> {
  const found = new Map<number, number[]>();
  const any = Math.min(count - 1, Math.floor(choice * count));
  for (const [index, { partition, key }] of messages.entries()) {
    const chosen = partition ?? (key === null ? any : partitionOf(key, count));
    found.set(chosen, [...(found.get(chosen) ?? []), index]);
  }
  return found;
}
