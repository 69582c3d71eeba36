import { HttpClientError, ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';
import { BrokerConnection, type BrokerOptions } from './broker.ts';
import { CODE, check, nameOf, refusal } from './errors.ts';
import { type BrokerAddress, findCoordinator, type Metadata, metadata } from './protocol/metadata.ts';
import { TokenSource } from './token.ts';
import type { TopicChoice } from './topics.ts';

/** Brokers that are connected to at once: leaders of what is read. */
const MAX_CONNECTIONS = 50;
/** Partitions that one consumer reads, or a producer chooses from. */
const MAX_PARTITIONS = 1_000;
/** Largest list of all topics of a cluster: some 80,000 partitions. */
const MAX_LIST_BYTES = 4 * 1024 * 1024;

/** Leaders of the partitions of a topic, by partition; -1 where there is none at the moment. */
export type Leaders = ReadonlyMap<string, ReadonlyMap<number, number>>;

/** The brokers of a cluster, found from the ones that a credential names. Every address is checked like those that people enter. */
export class KafkaCluster {
  readonly #options: BrokerOptions;
  readonly #connections = new Map<string, Promise<BrokerConnection>>();
  #addresses: ReadonlyMap<number, BrokerAddress> = new Map();
  #first: BrokerConnection;

  readonly #tokens: TokenSource;

  private constructor(options: BrokerOptions, first: BrokerConnection, tokens: TokenSource) {
    this.#options = options;
    this.#tokens = tokens;
    this.#first = first;
  }

  /**
   * Connects to the first broker of the credential that answers, and signs in.
   * @throws ServiceError kafka_*, HttpClientError
   */
  static async open(options: BrokerOptions): Promise<KafkaCluster> {
    let failed: unknown;
    const tokens = new TokenSource(options);
    for (const address of brokersOf(options.credential.brokers)) {
      try {
        return new KafkaCluster(options, await BrokerConnection.open(options, address, tokens), tokens);
      } catch (error) {
        failed ??= error;
        // Another broker says the same.
        if (error instanceof ServiceError && !error.retryable) throw error;
        if (options.signal.aborted) throw error;
      }
    }
    throw failed;
  }

  /** Where it is, for messages. */
  get where(): string {
    return this.#first.where;
  }

  /**
   * Asks where topics are.
   * @throws ServiceError kafka_topic_not_found, kafka_not_authorized, kafka_refused, kafka_too_many_partitions
   */
  async leaders(topics: readonly string[]): Promise<Leaders> {
    return this.#leadersOf(await this.#describe(topics), topics);
  }

  /**
   * Asks where the topics are that are chosen by name or by pattern.
   * @throws ServiceError as {@link leaders}, kafka_too_many_topics
   */
  async leadersOf(choice: TopicChoice): Promise<Leaders> {
    if (choice.patterns.length === 0) return await this.leaders(choice.names);
    const found = await this.#describe(null);
    // A topic that is being made or deleted is read once it is there.
    const there = found.topics.filter(({ error, isInternal }) => error === CODE.none && !isInternal);
    const matching = await choice.matching(there.map(({ name }) => name).toSorted());
    return this.#leadersOf(found, [...new Set([...choice.names, ...matching])]);
  }

  /** Partitions of topics; what isn't there has none. @throws ServiceError kafka_* */
  async partitionCounts(topics: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const found = await this.#describe(topics);
    return new Map(found.topics.map(({ name, partitions }) => [name, partitions.length]));
  }

  async #describe(topics: readonly string[] | null): Promise<Metadata> {
    const request = metadata(this.#first.version('metadata'), topics);
    const found = await (topics === null
      ? this.#first.call(request, 0, MAX_LIST_BYTES)
      : this.#first.call(request));
    this.#addresses = found.brokers;
    return found;
  }

  #leadersOf(found: Metadata, topics: readonly string[]): Leaders {
    const described = new Map(found.topics.map((topic) => [topic.name, topic]));
    const leaders = new Map<string, ReadonlyMap<number, number>>();
    for (const name of topics) {
      const { error, partitions } = described.get(name) ?? { error: CODE.unknownTopic, partitions: [] };
      check(error, { where: this.where, subject: name });
      leaders.set(name, new Map(partitions.map(({ index, leader }) => [index, leader])));
    }
    const count = [...leaders.values()].reduce((sum, { size }) => sum + size, 0);
    if (count <= MAX_PARTITIONS) return leaders;
    throw new ServiceError(
      'kafka_too_many_partitions',
      message('ports.kafka_too_many', { partitions: count, max: MAX_PARTITIONS }),
    );
  }

  /** A connection to whoever looks after a group, used for nothing else. @throws ServiceError kafka_*, HttpClientError */
  async coordinator(group: string): Promise<BrokerConnection> {
    const version = this.#first.version('findCoordinator');
    const { error, address } = await this.#first.call(findCoordinator(version, group));
    check(error, { where: this.where, subject: group });
    return await this.#open(address);
  }

  /** A connection to a broker, opened when it is first used. @throws ServiceError kafka_*, HttpClientError */
  async broker(id: number): Promise<BrokerConnection> {
    const key = String(id);
    const known = this.#connections.get(key);
    if (known !== undefined) return await known;
    const address = this.#addresses.get(id);
    if (address === undefined) throw refusal(5, { where: this.where, subject: `broker ${id}` });
    if (this.#connections.size >= MAX_CONNECTIONS) {
      throw new ServiceError(
        'kafka_too_many_partitions',
        message('ports.kafka_too_many_brokers', { max: MAX_CONNECTIONS }),
      );
    }
    const opening = this.#open(address);
    this.#connections.set(key, opening);
    opening.catch(() => this.#connections.delete(key));
    return await opening;
  }

  close(): void {
    this.#first.close();
    for (const opening of this.#connections.values()) {
      opening.then((connection) => connection.close()).catch(() => undefined);
    }
  }

  /** A broker says under which name it is reached; that it doesn't work from here is the most common mistake. */
  async #open(address: BrokerAddress): Promise<BrokerConnection> {
    try {
      return await BrokerConnection.open(this.#options, address, this.#tokens);
    } catch (error) {
      const isReachable = error instanceof ServiceError && error.code !== 'kafka_connection_failed';
      if (isReachable || this.#options.signal.aborted) throw error;
      if (!(error instanceof ServiceError || error instanceof HttpClientError)) throw error;
      throw new ServiceError(
        'kafka_broker_unreachable',
        message('ports.kafka_broker_unreachable', {
          host: this.where,
          broker: nameOf(address),
          reason: error.explanation,
        }),
        { retryable: error instanceof ServiceError, cause: error },
      );
    }
  }
}

/** The brokers that a credential names, separated by commas or spaces. */
export function brokersOf(text: string): readonly BrokerAddress[] {
  return text
    .split(/[\s,]+/)
    .filter((each) => each !== '')
    .map((each) => {
      const [, host = each, port = '9092'] = /^(.*?)(?::(\d+))?$/.exec(each) ?? [];
      return { host, port: Number(port) };
    });
}
