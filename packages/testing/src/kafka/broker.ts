import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { Group } from './group.ts';
import { answerMember } from './members.ts';
import { type Partition, takeBatches } from './partition.ts';
import { type Account, saslServer } from './sasl.ts';
import { batchOf, In, Out, type TestRecord } from './wire.ts';

/** Requests by number, with the versions that are answered; the newest ones without the "flexible" format. */
const APIS: { readonly [name: string]: readonly [key: number, min: number, max: number] } = {
  Produce: [0, 3, 3],
  Fetch: [1, 4, 11],
  ListOffsets: [2, 1, 2],
  Metadata: [3, 0, 4],
  OffsetCommit: [8, 2, 7],
  OffsetFetch: [9, 1, 3],
  FindCoordinator: [10, 0, 1],
  JoinGroup: [11, 2, 5],
  Heartbeat: [12, 0, 3],
  LeaveGroup: [13, 0, 3],
  SyncGroup: [14, 0, 3],
  SaslHandshake: [17, 0, 1],
  ApiVersions: [18, 0, 0],
  SaslAuthenticate: [36, 0, 0],
};
const NAMES = new Map(Object.entries(APIS).map(([name, [key]]) => [key, name]));

interface ClusterOptions {
  /** Brokers; partitions are led by them in turn. */
  readonly brokers?: number;
  readonly accounts?: readonly Account[];
  /** `ca` asks clients for a certificate of this authority. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca?: string };
}

/** A cluster of Kafka brokers as far as a consumer or a producer can tell, on 127.0.0.1. */
export class KafkaTestCluster {
  /** Names of requests in their order. */
  readonly requests: string[] = [];
  readonly groups = new Map<string, Group>();
  /** Errors that requests of a name are answered with. */
  readonly errors = new Map<string, number>();
  /** The newest version that is answered, where that is to be an older one. */
  readonly newest = new Map<string, number>();
  /** Transactions that were aborted, by topic. */
  readonly aborted = new Map<string, { producerId: number; first: number }[]>();
  /** Under which host brokers say they are reached. */
  advertised = '127.0.0.1';
  mechanisms = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'];
  /** Called before a request is answered; what it returns is awaited. */
  before: (name: string) => Promise<void> | void = () => undefined;
  readonly accounts: Account[];
  readonly #topics = new Map<string, Partition[]>();
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #waiting = new Set<() => void>();

  private constructor(accounts: readonly Account[]) {
    this.accounts = [...accounts];
  }

  static async start({ brokers = 1, accounts = [], tls }: ClusterOptions = {}): Promise<KafkaTestCluster> {
    const made = new KafkaTestCluster(accounts);
    for (let id = 0; id < brokers; id += 1) {
      const serve = (socket: Socket): void => made.#serve(socket, id);
      const server =
        tls === undefined
          ? createServer(serve)
          : createTlsServer({ ...tls, requestCert: tls.ca !== undefined, rejectUnauthorized: true }, serve);
      server.on('tlsClientError', () => undefined);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      made.#servers.push(server);
    }
    return made;
  }

  /** Of the first broker, which is enough to find the others. */
  get bootstrap(): string {
    return `127.0.0.1:${this.port(0)}`;
  }

  port(broker: number): number {
    const address = this.#servers[broker]?.address() as AddressInfo | undefined;
    return address?.port ?? 0;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  group(name: string): Group {
    const group = this.groups.get(name) ?? new Group();
    this.groups.set(name, group);
    return group;
  }

  /** Makes a topic, or adds partitions to one. */
  topic(name: string, partitions = 1): void {
    const all = this.#topics.get(name) ?? [];
    while (all.length < partitions) all.push({ batches: [], start: 0, end: 0 });
    this.#topics.set(name, all);
  }

  deleteTopic(name: string): void {
    this.#topics.delete(name);
  }

  /** Stores records as one batch. @returns the offset of the first one */
  produce(
    topic: string,
    records: readonly TestRecord[],
    partition = 0,
    more: Partial<Parameters<typeof batchOf>[1]> = {},
  ): number {
    const log = this.#log(topic, partition);
    const first = more.firstOffset ?? log.end;
    const time = more.timestamp ?? Date.UTC(2026, 0, 2, 9) + first;
    const bytes = batchOf(records, { timestamp: time, ...more, firstOffset: first });
    this.store(topic, partition, bytes, { first, last: more.lastOffset ?? first + records.length - 1, time });
    return first;
  }

  store(
    topic: string,
    partition: number,
    bytes: Buffer,
    { first, last, time }: { first: number; last: number; time: number },
  ): void {
    const log = this.#log(topic, partition);
    log.batches.push({ first, last, bytes, time });
    log.end = last + 1;
    for (const wake of this.#waiting) wake();
  }

  /** What is older has been deleted. */
  deleteBefore(topic: string, partition: number, offset: number): void {
    const log = this.#log(topic, partition);
    log.start = offset;
    log.batches.splice(0, log.batches.length, ...log.batches.filter(({ last }) => last >= offset));
  }

  /** What producers have sent, as stored. */
  batches(topic: string, partition = 0): readonly Buffer[] {
    return this.#log(topic, partition).batches.map(({ bytes }) => bytes);
  }

  committed(group: string, topic: string, partition = 0): number {
    return this.group(group).offsets.get(`${topic}/${partition}`) ?? -1;
  }

  drop(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.drop();
    for (const wake of this.#waiting) wake();
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }

  #log(topic: string, partition: number): Partition {
    const log = this.#topics.get(topic)?.[partition];
    if (log === undefined) throw new Error(`there is no ${topic}/${partition}`);
    return log;
  }

  #serve(socket: Socket, id: number): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.#sockets.delete(socket));
    const session: Session = { broker: id, isSignedIn: this.accounts.length === 0, sasl: null };
    let bytes = Buffer.alloc(0);
    let work: Promise<void> = Promise.resolve();
    socket.on('data', (piece: Buffer) => {
      bytes = Buffer.concat([bytes, piece]);
      while (bytes.length >= 4 && bytes.length >= 4 + bytes.readInt32BE(0)) {
        const request = bytes.subarray(4, 4 + bytes.readInt32BE(0));
        bytes = bytes.subarray(4 + request.length);
        // Requests of one connection are answered in their order.
        work = work.then(() => this.#answer(socket, session, request));
      }
    });
  }

  async #answer(socket: Socket, session: Session, request: Buffer): Promise<void> {
    const input = new In(request);
    const [key, version, correlation] = [input.i16(), input.i16(), input.i32()];
    input.str();
    const name = NAMES.get(key) ?? `${key}`;
    this.requests.push(name);
    await this.before(name);
    // What was under way when the connection ended never arrives.
    if (socket.destroyed) return;
    const isOpen = ['ApiVersions', 'SaslHandshake', 'SaslAuthenticate'].includes(name);
    const answer = session.isSignedIn || isOpen ? await this.#run(name, version, input, session) : null;
    if (answer === null || socket.destroyed) {
      socket.destroy();
      return;
    }
    const content = answer.done();
    const head = new Out().i32(content.length + 4).i32(correlation);
    socket.write(head.put(content).done());
  }

  async #run(name: string, version: number, input: In, session: Session): Promise<Out | null> {
    const error = this.errors.get(name) ?? 0;
    switch (name) {
      case 'ApiVersions':
        return this.#versions(version === 0 ? 0 : 35);
      case 'SaslHandshake': {
        const mechanism = input.str() ?? '';
        const isKnown = this.mechanisms.includes(mechanism);
        if (isKnown) session.sasl = saslServer(mechanism, this.accounts);
        const out = new Out().i16(isKnown ? 0 : 33);
        return out.list(this.mechanisms, (each) => out.str(each));
      }
      case 'SaslAuthenticate': {
        const said = input.blob() ?? Buffer.alloc(0);
        const answer = session.sasl?.(said) ?? null;
        if (answer === null) return new Out().i16(58).str(`no account for ${said.toString()}`).blob(null);
        session.isSignedIn ||= answer.isDone;
        return new Out().i16(0).str(null).blob(answer.answer);
      }
      case 'Metadata':
        return this.#metadata(version, input, error);
      case 'FindCoordinator': {
        input.str();
        const broker = this.#servers.length - 1;
        return new Out().i32(0).i16(error).str(null).i32(broker).str(this.advertised).i32(this.port(broker));
      }
      case 'ListOffsets':
        return this.#listOffsets(input, error);
      case 'Fetch':
        return await this.#fetch(version, input, error, session);
      case 'Produce':
        return this.#produce(input, error);
      default:
        return await answerMember(this.group(input.str() ?? ''), name, { version, input, error });
    }
  }

  /** In the oldest format, also to clients that ask in a newer one, so that they ask again. */
  #versions(error: number): Out {
    const out = new Out().i16(error);
    return out.list(Object.entries(APIS), ([name, [key, min, max]]) => {
      const newest = this.newest.get(name) ?? max;
      out.i16(key).i16(Math.min(min, newest)).i16(newest);
    });
  }

  #metadata(version: number, input: In, error: number): Out {
    const named = input.nullableList(() => input.str() ?? '');
    const wanted = named ?? [...this.#topics.keys()];
    const out = version >= 3 ? new Out().i32(0) : new Out();
    out.list(this.#servers.keys(), (id) => out.i32(id).str(this.advertised).i32(this.port(id)).str(null));
    out.str('test-cluster').i32(0);
    return out.list(wanted, (topic) => {
      const partitions = this.#topics.get(topic);
      out
        .i16(partitions === undefined ? 3 : error)
        .str(topic)
        .i8(topic.startsWith('__') ? 1 : 0);
      out.list((partitions ?? []).keys(), (index) => {
        const leader = index % this.#servers.length;
        out.i16(0).i32(index).i32(leader);
        out.list([leader], (each) => out.i32(each)).list([leader], (each) => out.i32(each));
      });
    });
  }

  #listOffsets(input: In, error: number): Out {
    input.i32();
    input.i8();
    const topics = input.list(() => ({
      topic: input.str() ?? '',
      partitions: input.list(() => ({ index: input.i32(), time: input.i64() })),
    }));
    const out = new Out().i32(0);
    return out.list(topics, ({ topic, partitions }) => {
      out.str(topic).list(partitions, ({ index, time }) => {
        const { start, end } = this.#log(topic, index);
        out
          .i32(index)
          .i16(error)
          .i64(-1)
          .i64(time === -2 ? start : end);
      });
    });
  }

  async #fetch(version: number, input: In, error: number, { broker }: Session): Promise<Out> {
    input.i32();
    const waitMs = input.i32();
    input.i32();
    const maxBytes = input.i32();
    input.i8();
    const isNew = version >= 7;
    if (isNew) input.i32();
    if (isNew) input.i32();
    const topics = input.list(() => ({
      topic: input.str() ?? '',
      partitions: input.list(() => {
        const index = input.i32();
        if (version >= 9) input.i32();
        const offset = input.i64();
        if (version >= 5) input.i64();
        return { index, offset, max: input.i32() };
      }),
    }));
    const found = () => {
      let left = maxBytes;
      return topics.map(({ topic, partitions }) => ({
        topic,
        partitions: partitions.map(({ index, offset, max }) => {
          const log = this.#topics.get(topic)?.[index];
          if (log === undefined) return { index, error: 3, end: -1, records: null };
          if (index % this.#servers.length !== broker) return { index, error: 6, end: -1, records: null };
          if (offset < log.start || offset > log.end) return { index, error: 1, end: log.end, records: null };
          const records = takeBatches(log, offset, Math.min(max, left), left === maxBytes);
          left -= records.length;
          return { index, error, end: log.end, records };
        }),
      }));
    };
    let answers = found();
    const isEmpty = () =>
      answers.every(({ partitions }) =>
        partitions.every((each) => each.error === 0 && each.records?.length === 0),
      );
    if (isEmpty()) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, waitMs);
      this.#waiting.add(resolve);
      await promise;
      clearTimeout(timer);
      this.#waiting.delete(resolve);
      answers = found();
    }
    const out = new Out().i32(0);
    if (isNew) out.i16(0).i32(0);
    return out.list(answers, ({ topic, partitions }) => {
      out.str(topic).list(partitions, ({ index, error: failed, end, records }) => {
        out.i32(index).i16(failed).i64(end).i64(end);
        if (version >= 5) out.i64(0);
        out.list(this.aborted.get(topic) ?? [], ({ producerId, first }) => out.i64(producerId).i64(first));
        if (version >= 11) out.i32(-1);
        out.blob(records);
      });
    });
  }

  #produce(input: In, error: number): Out {
    input.str();
    input.i16();
    input.i32();
    const topics = input.list(() => ({
      topic: input.str() ?? '',
      partitions: input.list(() => ({ index: input.i32(), batch: input.blob() ?? Buffer.alloc(0) })),
    }));
    const out = new Out();
    out.list(topics, ({ topic, partitions }) => {
      out.str(topic).list(partitions, ({ index, batch }) => {
        const log = this.#log(topic, index);
        const first = log.end;
        if (error === 0) {
          const bytes = Buffer.from(batch);
          bytes.writeBigInt64BE(BigInt(first), 0);
          const last = first + bytes.readInt32BE(23);
          this.store(topic, index, bytes, { first, last, time: Number(bytes.readBigInt64BE(27)) });
        }
        out.i32(index).i16(error).i64(first).i64(-1);
      });
    });
    return out.i32(0);
  }
}

interface Session {
  readonly broker: number;
  isSignedIn: boolean;
  sasl: ReturnType<typeof saslServer> | null;
}
