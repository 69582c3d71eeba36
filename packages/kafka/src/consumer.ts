import type { BufferedResponse } from './broker.ts';
import { KafkaProtocolError } from './bytes.ts';
import type { KafkaCluster, Leaders } from './cluster.ts';
import { CODE, check, connectionFailed } from './errors.ts';
import { Gate } from './gate.ts';
import { GroupMember } from './member.ts';
import { EARLIEST, type FetchedPartition, fetchMessages, LATEST, listOffsets } from './protocol/data.ts';
import type { Offsets } from './protocol/group.ts';
import { type KafkaRecord, readRecords, type Step } from './records.ts';
import { TopicChoice } from './topics.ts';

export interface ConsumerOptions {
  readonly group: string;
  /** Stays the same on each connection. */
  readonly instanceId: string;
  /** Names, and patterns that begin with `^`. */
  readonly topics: readonly string[];
  /** Where reading starts in partitions that the group hasn't read before. */
  readonly existing: 'skip' | 'start';
  /** Number of partitions that each topic had before: those added since are read from their beginning. */
  readonly known: ReadonlyMap<string, number>;
  /** Whether `known` has every topic that the patterns matched then: any other was created since and is read from its beginning. */
  readonly isKnownWhole?: boolean;
  /** Interval between checks for added topics and partitions. Default: a minute. */
  readonly lookMs?: number;
}

export interface KafkaMessage extends KafkaRecord {
  readonly topic: string;
  readonly partition: number;
}

/** How long a broker waits for messages. */
const WAIT_MS = 2_000;
const FETCH_BYTES = 1024 * 1024;
const PARTITION_BYTES = 256 * 1024;
const LOOK_MS = 60_000;
/** Until the next check once a topic is gone. */
const LEFT_MS = 1_000;

/** Messages of one partition, as they were fetched. */
interface Part {
  readonly topic: string;
  readonly partition: number;
  readonly steps: AsyncGenerator<Step>;
}

/** A response of one broker, until all of it was taken. */
interface Response {
  readonly parts: Part[];
  readonly release: () => void;
}

/**
 * Reads topics as a member of a group. Messages are fetched only on demand, and one large response at a time is kept; heartbeats continue
 * meanwhile. Any error of a broker ends the consumer: the next one starts at the group's offsets.
 */
export class KafkaConsumer {
  readonly #cluster: KafkaCluster;
  readonly #options: ConsumerOptions;
  readonly #gate = new Gate();
  readonly #member: GroupMember;
  readonly #choice: TopicChoice;
  /** As in the options, then as of the last time the group was joined. */
  #known: ReadonlyMap<string, number>;
  #isKnownWhole: boolean;
  #leaders: Leaders = new Map();
  #counts = '';
  #lookAt = 0;
  /** Next offsets of the assigned partitions. */
  #positions = new Map<string, Map<number, number>>();
  /** Offsets of what was returned since the last commit. */
  #uncommitted = new Map<string, Map<number, number>>();
  /** Brokers with a request in flight. */
  readonly #asked = new Set<number>();
  #responses: Response[] = [];
  /** Changes with each assignment: responses to earlier requests are discarded. */
  #round = 0;
  #failure: Error | null = null;
  #wake: (() => void) | null = null;
  #isDue = false;

  private constructor(
    cluster: KafkaCluster,
    options: ConsumerOptions,
    { member, choice }: { readonly member: GroupMember; readonly choice: TopicChoice },
  ) {
    this.#cluster = cluster;
    this.#options = options;
    this.#member = member;
    this.#choice = choice;
    this.#known = options.known;
    this.#isKnownWhole = options.isKnownWhole ?? false;
  }

  /**
   * Joins the group and starts at its offsets.
   * @throws ServiceError kafka_*, HttpClientError
   */
  static async open(cluster: KafkaCluster, options: ConsumerOptions): Promise<KafkaConsumer> {
    const { group, instanceId, topics } = options;
    const choice = new TopicChoice(topics);
    let note = (): void => undefined;
    const member = await GroupMember.open(cluster, { group, instanceId, onChange: () => note() });
    const consumer = new KafkaConsumer(cluster, options, { member, choice });
    note = () => consumer.#note();
    try {
      await consumer.#join();
      return consumer;
    } catch (error) {
      await consumer.close();
      throw error;
    }
  }

  /** Partitions of each topic. */
  get partitions(): { readonly [topic: string]: number } {
    return Object.fromEntries([...this.#leaders].map(([topic, { size }]) => [topic, size]));
  }

  /**
   * Waits for messages. What was returned before has to be committed first.
   * @param maxBytes of their keys, values and headers; one may be larger
   * @returns nothing if topics or partitions were added or are gone
   * @throws ServiceError kafka_*, HttpClientError
   */
  async next(max: number, maxBytes: number): Promise<readonly KafkaMessage[]> {
    for (;;) {
      const ended = this.#failure ?? this.#member.ended;
      if (ended !== null) throw ended;
      const before = this.#counts;
      if (this.#member.mustJoin) await this.#join();
      else if (performance.now() >= this.#lookAt && this.#responses.length === 0) await this.#look();
      if (this.#counts !== before) return [];
      const taken = await this.#take(max, maxBytes);
      if (taken.length > 0) return taken;
      if (this.#member.mustJoin || this.#responses.length > 0) continue;
      this.#ask();
      await this.#changed();
    }
  }

  /** Tells the group that everything that was given out is done. @throws ServiceError kafka_* */
  async commit(): Promise<void> {
    const offsets = this.#uncommitted;
    if (offsets.size === 0) return;
    if (await this.#member.commit(offsets)) this.#uncommitted = new Map();
  }

  /** Leaves the group. */
  async close(): Promise<void> {
    this.#discard();
    this.#failure ??= new Error('the consumer was closed');
    await this.#member.leave();
    this.#cluster.close();
  }

  async #join(): Promise<void> {
    this.#discard();
    await this.#readLeaders();
    const assigned = await this.#member.join(this.#leaders);
    const offsets = await this.#member.offsets(assigned);
    this.#positions = new Map();
    const wanted = new Map<string, Map<number, number>>();
    for (const [topic, partitions] of assigned) {
      for (const partition of partitions) {
        const done = this.#uncommitted.get(topic)?.get(partition) ?? -1;
        const committed = Math.max(done, offsets.get(topic)?.get(partition) ?? -1);
        if (committed >= 0) put(this.#positions, { topic, partition, offset: committed });
        else put(wanted, { topic, partition, offset: this.#beginningOf(topic, partition) });
      }
    }
    // What was returned for partitions that another member has now must not be committed over its progress.
    for (const [topic, partitions] of this.#uncommitted) {
      for (const partition of partitions.keys()) {
        if (assigned.get(topic)?.includes(partition) !== true) partitions.delete(partition);
      }
    }
    await this.#begin(wanted);
    this.#known = new Map(Object.entries(this.partitions));
    this.#isKnownWhole = true;
  }

  /** Commits the starting offsets at once: otherwise, what is sent before the first message was started would be missed after a failure. */
  async #begin(wanted: Offsets): Promise<void> {
    if (wanted.size === 0) return;
    const found = await this.#list(wanted);
    for (const [topic, partitions] of found) {
      for (const [partition, offset] of partitions) put(this.#positions, { topic, partition, offset });
    }
    await this.#member.commit(found);
  }

  #beginningOf(topic: string, partition: number): number {
    const known = this.#known.get(topic);
    const isAdded = known === undefined ? this.#isKnownWhole : partition >= known;
    return isAdded || this.#options.existing === 'start' ? EARLIEST : LATEST;
  }

  async #look(): Promise<void> {
    const before = this.#counts;
    await this.#readLeaders();
    if (this.#counts !== before) await this.#join();
  }

  async #readLeaders(): Promise<void> {
    this.#leaders = await this.#cluster.leadersOf(this.#choice);
    this.#counts = JSON.stringify(Object.entries(this.partitions).toSorted(([a], [b]) => (a < b ? -1 : 1)));
    this.#lookAt = performance.now() + (this.#options.lookMs ?? LOOK_MS);
  }

  /** Fetches from each leader without a request in flight, for the partitions that it leads. */
  #ask(): void {
    for (const [leader, offsets] of this.#byLeader(this.#positions)) {
      if (this.#asked.has(leader)) continue;
      this.#asked.add(leader);
      void this.#fetch(leader, offsets, this.#round);
    }
  }

  #byLeader(offsets: Offsets): ReadonlyMap<number, Offsets> {
    const found = new Map<number, Map<string, Map<number, number>>>();
    for (const [topic, partitions] of offsets) {
      for (const [partition, offset] of partitions) {
        const leader = this.#leaders.get(topic)?.get(partition) ?? -1;
        if (leader < 0) check(5, { where: this.#cluster.where, subject: `${topic}/${partition}` });
        const own = found.get(leader) ?? new Map<string, Map<number, number>>();
        put(own, { topic, partition, offset });
        found.set(leader, own);
      }
    }
    return found;
  }

  async #fetch(leader: number, offsets: Offsets, round: number): Promise<void> {
    try {
      const broker = await this.#cluster.broker(leader);
      const limits = { waitMs: WAIT_MS, maxBytes: FETCH_BYTES, partitionBytes: PARTITION_BYTES };
      const request = fetchMessages(broker.version('fetch'), offsets, limits);
      const fetched = await broker.fetch(request, WAIT_MS, this.#gate);
      if (round === this.#round) this.#keep(fetched, broker.where);
      else fetched.release();
    } catch (error) {
      if (round === this.#round) this.#failure ??= error instanceof Error ? error : new Error(String(error));
    } finally {
      if (round === this.#round) this.#asked.delete(leader);
      this.#note();
    }
  }

  #keep(
    { response, release }: BufferedResponse<{ error: number; partitions: readonly FetchedPartition[] }>,
    where: string,
  ): void {
    try {
      check(response.error, { where, subject: this.#options.group });
      const parts = response.partitions.flatMap((each) => this.#partOf(each, where));
      if (parts.length > 0) this.#responses.push({ parts, release });
      else release();
    } catch (error) {
      release();
      throw error;
    }
  }

  #partOf({ topic, partition, error, aborted, records }: FetchedPartition, where: string): Part[] {
    const from = this.#positions.get(topic)?.get(partition);
    if (from === undefined) return [];
    if (error === CODE.offsetOutOfRange) {
      // Where to continue is looked up when it is this one's turn.
      return [{ topic, partition, steps: this.#searched(topic, partition, from) }];
    }
    if (error === CODE.unknownTopic && !this.#choice.names.includes(topic)) return this.#leave(topic);
    check(error, { where, subject: topic });
    if (records === null || records.byteLength === 0) return [];
    return [{ topic, partition, steps: readRecords(records, from, aborted) }];
  }

  /** A topic that a pattern found is gone: rejoins without it, or with it if brokers still list it then. */
  #leave(topic: string): Part[] {
    this.#positions.delete(topic);
    this.#counts = '';
    this.#lookAt = Math.min(this.#lookAt, performance.now() + LEFT_MS);
    return [];
  }

  /** The offset to be read is gone: continues with the nearest one. */
  async *#searched(topic: string, partition: number, from: number): AsyncGenerator<Step> {
    const at = async (time: number): Promise<number> => {
      const found = await this.#list(new Map([[topic, new Map([[partition, time]])]]));
      return found.get(topic)?.get(partition) ?? from;
    };
    const earliest = await at(EARLIEST);
    yield { upTo: from < earliest ? earliest : await at(LATEST) };
  }

  async #list(wanted: Offsets): Promise<Offsets> {
    const found = new Map<string, Map<number, number>>();
    for (const [leader, offsets] of this.#byLeader(wanted)) {
      const broker = await this.#cluster.broker(leader);
      const { error, offsets: listed } = await broker.call(
        listOffsets(broker.version('listOffsets'), offsets),
        WAIT_MS,
      );
      check(error, { where: broker.where, subject: [...offsets.keys()].join(', ') });
      for (const [topic, partitions] of listed) {
        for (const [partition, offset] of partitions) put(found, { topic, partition, offset });
      }
    }
    return found;
  }

  async #take(max: number, maxBytes: number): Promise<KafkaMessage[]> {
    const taken: KafkaMessage[] = [];
    let bytes = 0;
    while (taken.length < max && bytes < maxBytes) {
      const [response] = this.#responses;
      const [part] = response?.parts ?? [];
      if (response === undefined || part === undefined) break;
      const { topic, partition } = part;
      const step = await part.steps.next().catch((error: unknown) => {
        throw error instanceof KafkaProtocolError ? connectionFailed(this.#cluster.where, error) : error;
      });
      if (step.done === true) {
        response.parts.shift();
        if (response.parts.length > 0) continue;
        this.#responses.shift();
        response.release();
      } else if ('record' in step.value) {
        const { record } = step.value;
        this.#advance(topic, partition, record.offset + 1);
        taken.push({ ...record, topic, partition });
        bytes += record.size;
      } else {
        this.#advance(topic, partition, step.value.upTo);
      }
    }
    return taken;
  }

  #advance(topic: string, partition: number, offset: number): void {
    put(this.#positions, { topic, partition, offset });
    put(this.#uncommitted, { topic, partition, offset });
  }

  #discard(): void {
    this.#round += 1;
    this.#asked.clear();
    for (const { release } of this.#responses.splice(0)) release();
  }

  #note(): void {
    this.#isDue = true;
    this.#wake?.();
  }

  async #changed(): Promise<void> {
    if (!this.#isDue) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      // Without partitions, no response would arrive, and new partitions would go unnoticed.
      const timer = setTimeout(resolve, Math.max(0, this.#lookAt - performance.now())).unref();
      await promise;
      clearTimeout(timer);
      this.#wake = null;
    }
    this.#isDue = false;
  }
}

function put(
  offsets: Map<string, Map<number, number>>,
  {
    topic,
    partition,
    offset,
  }: { readonly topic: string; readonly partition: number; readonly offset: number },
): void {
  const partitions = offsets.get(topic) ?? new Map<number, number>();
  partitions.set(partition, offset);
  offsets.set(topic, partitions);
}
