import { HttpClientError, ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';
import { BrokerConnection, type BrokerOptions } from './broker.ts';
import { check, nameOf, refusal } from './errors.ts';
import { type BrokerAddress, findCoordinator, metadata } from './protocol/metadata.ts';
import { TokenSource } from './token.ts';

/** Brokers that are connected to at once: leaders of what is read. */
const MAX_CONNECTIONS = 50;
/** Partitions that one consumer reads, or a producer chooses from. */
const MAX_PARTITIONS = 1_000;

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
    const found = await this.#first.call(metadata(this.#first.version('metadata'), topics));
    this.#addresses = found.brokers;
    const leaders = new Map<string, ReadonlyMap<number, number>>();
    for (const { error, name, partitions } of found.topics) {
      check(error, { where: this.where, subject: name });
      leaders.set(name, new Map(partitions.map(({ index, leader }) => [index, leader])));
    }
    for (const topic of topics) {
      if (!leaders.has(topic)) throw refusal(3, { where: this.where, subject: topic });
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
