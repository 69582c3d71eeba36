import { ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';
import { ASSIGNOR, assignRanges } from './assignor.ts';
import type { BrokerConnection } from './broker.ts';
import type { KafkaCluster, Leaders } from './cluster.ts';
import { CODE, check, refusal } from './errors.ts';
import {
  type Assignment,
  heartbeat,
  joinGroup,
  leaveGroup,
  type Membership,
  type Offsets,
  offsetCommit,
  offsetFetch,
  syncGroup,
} from './protocol/group.ts';

/** After so long without a heartbeat the partitions of a member go to others. */
const SESSION_MS = 30_000;
/** For members to join again when somebody comes or goes. */
const REBALANCE_MS = 30_000;
const HEARTBEAT_MS = 3_000;
/** Times that joining is tried while others come and go. */
const MAX_JOINS = 10;
/** The coordinator is not ready yet, or is another broker by now. */
const LOST: readonly number[] = [
  ...[CODE.illegalGeneration, CODE.unknownMember, CODE.fencedInstance],
  ...[CODE.notCoordinator, CODE.coordinatorUnavailable, CODE.coordinatorLoading],
];

export interface MemberOptions {
  readonly group: string;
  /** Stays the same on each connection, so that a new one takes over at once what a dead one has. */
  readonly instanceId: string;
  /** Called when the group is to be joined again, or the membership has ended. */
  readonly onChange: () => void;
}

/** A member of a consumer group: joins it, stays by heartbeats, keeps its offsets and leaves. */
export class GroupMember {
  readonly #cluster: KafkaCluster;
  readonly #coordinator: BrokerConnection;
  readonly #options: MemberOptions;
  /** Whether brokers know members by a name that stays (Kafka 2.3). */
  readonly #isNamed: boolean;
  readonly #heartbeats: NodeJS.Timeout;
  #membership: Membership;
  #state: 'joining' | 'joined' | 'must_join' = 'must_join';
  #ended: Error | null = null;
  #isBeating = false;

  private constructor(cluster: KafkaCluster, coordinator: BrokerConnection, options: MemberOptions) {
    this.#cluster = cluster;
    this.#coordinator = coordinator;
    this.#options = options;
    this.#isNamed =
      coordinator.version('joinGroup') === 5 &&
      coordinator.version('offsetCommit') === 7 &&
      (['syncGroup', 'heartbeat', 'leaveGroup'] as const).every((api) => coordinator.version(api) === 3);
    this.#membership = {
      group: options.group,
      instanceId: this.#isNamed ? options.instanceId : null,
      ...{ memberId: '', generation: -1 },
    };
    this.#heartbeats = setInterval(() => void this.#beat(), HEARTBEAT_MS).unref();
  }

  /** @throws ServiceError kafka_*, HttpClientError */
  static async open(cluster: KafkaCluster, options: MemberOptions): Promise<GroupMember> {
    const coordinator = await cluster.coordinator(options.group);
    try {
      return new GroupMember(cluster, coordinator, options);
    } catch (error) {
      coordinator.close();
      throw error;
    }
  }

  /** Whether what was assigned no longer holds. */
  get mustJoin(): boolean {
    return this.#state === 'must_join';
  }

  /** What ended the membership. */
  get ended(): Error | null {
    return this.#ended;
  }

  /** Joins, or joins again, to read these topics. @returns what this member is to read. @throws ServiceError kafka_* */
  async join(leaders: Leaders): Promise<Assignment> {
    this.#state = 'joining';
    for (let times = 0; times < MAX_JOINS; times += 1) {
      const assignment = await this.#joinOnce(leaders);
      if (assignment === null) continue;
      this.#state = 'joined';
      return assignment;
    }
    throw this.#refusal(CODE.rebalancing);
  }

  /** Next offsets of the group; -1 where it has none. @throws ServiceError kafka_* */
  async offsets(wanted: Assignment): Promise<Offsets> {
    if (wanted.size === 0) return new Map();
    const request = offsetFetch(this.#coordinator.version('offsetFetch'), this.#options.group, wanted);
    const { error, offsets } = await this.#coordinator.call(request);
    check(error, this.#asked);
    return offsets;
  }

  /** @returns false if it has to be done again after joining. @throws ServiceError kafka_* */
  async commit(offsets: Offsets): Promise<boolean> {
    const version = this.#isNamed ? 7 : 2;
    const { error } = await this.#coordinator.call(offsetCommit(version, this.#membership, offsets));
    if (error !== CODE.rebalancing) {
      if (LOST.includes(error)) throw this.#lost(error);
      check(error, this.#asked);
      return true;
    }
    this.#state = 'must_join';
    return false;
  }

  /** Gives the partitions back at once. */
  async leave(): Promise<void> {
    clearInterval(this.#heartbeats);
    if (this.#ended === null && this.#membership.memberId !== '' && !this.#coordinator.isEnded) {
      await this.#coordinator
        .call(leaveGroup(this.#isNamed ? 3 : 1, this.#membership))
        .catch(() => undefined);
    }
    this.#coordinator.close();
  }

  /** @returns null if somebody came or went meanwhile */
  async #joinOnce(leaders: Leaders): Promise<Assignment | null> {
    const { group } = this.#options;
    const topics = [...leaders.keys()];
    const wanted = { protocol: ASSIGNOR, topics, sessionMs: SESSION_MS, rebalanceMs: REBALANCE_MS };
    const joined = await this.#coordinator.call(
      joinGroup(this.#isNamed ? 5 : 2, this.#membership, wanted),
      REBALANCE_MS,
    );
    if (joined.error === CODE.memberIdRequired || joined.error === CODE.unknownMember) {
      const memberId = joined.error === CODE.memberIdRequired ? joined.memberId : '';
      this.#membership = { ...this.#membership, memberId };
      return null;
    }
    if (joined.error === CODE.rebalancing) return null;
    if (joined.error === CODE.inconsistentProtocol) {
      throw new ServiceError(
        'kafka_refused',
        message('ports.kafka_other_protocol', { group, protocol: ASSIGNOR, host: this.#coordinator.where }),
      );
    }
    if (LOST.includes(joined.error)) throw this.#lost(joined.error);
    check(joined.error, this.#asked);
    const { memberId, generation, members } = joined;
    this.#membership = { ...this.#membership, memberId, generation };
    const isLeader = joined.leader === memberId;
    const assignments = isLeader ? assignRanges(members, await this.#counts(members, leaders)) : new Map();
    const request = syncGroup(this.#isNamed ? 3 : 1, this.#membership, assignments);
    const { error, assignment } = await this.#coordinator.call(request, REBALANCE_MS);
    if (error === CODE.rebalancing) return null;
    if (LOST.includes(error)) throw this.#lost(error);
    check(error, this.#asked);
    return assignment;
  }

  /** Partitions of everything that members read, which may be more than this one does. */
  async #counts(
    members: readonly { readonly topics: readonly string[] }[],
    leaders: Leaders,
  ): Promise<ReadonlyMap<string, number>> {
    const topics = [...new Set(members.flatMap((member) => member.topics))];
    const others = topics.filter((topic) => !leaders.has(topic));
    const own = [...leaders].map(([topic, partitions]) => [topic, partitions.size] as const);
    // One may be gone by now, which its members learn when they look next.
    const more = others.length === 0 ? [] : await this.#cluster.partitionCounts(others);
    return new Map([...own, ...more]);
  }

  async #beat(): Promise<void> {
    if (this.#state === 'joining' || this.#isBeating || this.#membership.memberId === '') return;
    this.#isBeating = true;
    try {
      const { error } = await this.#coordinator.call(heartbeat(this.#isNamed ? 3 : 1, this.#membership));
      if (error === CODE.rebalancing) this.#mustJoin();
      else if (LOST.includes(error)) this.#end(this.#lost(error));
      else check(error, this.#asked);
    } catch (error) {
      this.#end(error instanceof Error ? error : new Error(String(error)));
    } finally {
      this.#isBeating = false;
    }
  }

  #mustJoin(): void {
    // A late answer must not undo that it was joined meanwhile.
    if (this.#state !== 'joined') return;
    this.#state = 'must_join';
    this.#options.onChange();
  }

  #end(error: Error): void {
    clearInterval(this.#heartbeats);
    this.#ended ??= error;
    this.#options.onChange();
  }

  get #asked() {
    return { where: this.#coordinator.where, subject: this.#options.group };
  }

  #refusal(code: number): ServiceError {
    return refusal(code, this.#asked);
  }

  /** The group goes on without this member; the next connection joins anew. */
  #lost(code: number): ServiceError {
    const { group } = this.#options;
    if (code !== CODE.fencedInstance) return this.#refusal(code);
    return new ServiceError(
      'kafka_refused',
      message('ports.kafka_fenced', { group, host: this.#coordinator.where }),
      {
        retryable: true,
      },
    );
  }
}
