/** A member, and its requests that wait for the others of the group. */
interface Member {
  id: string;
  readonly instance: string | null;
  readonly subscription: Buffer;
  join: ((answer: JoinAnswer) => void) | null;
  sync: ((answer: { error: number; assignment: Buffer }) => void) | null;
}

export interface JoinAnswer {
  readonly error: number;
  readonly generation: number;
  readonly leader: string;
  readonly id: string;
  readonly members: readonly { id: string; instance: string | null; subscription: Buffer }[];
}

const NO_JOIN = { generation: -1, leader: '', members: [] };

/** A consumer group as its coordinator keeps it: classic protocol, with static membership (KIP-345). Members never expire. */
export class Group {
  readonly offsets = new Map<string, number>();
  generation = 0;
  #members: Member[] = [];
  #isJoining = false;
  /** What the leader of this generation has assigned; null until it has. */
  #assignments: ReadonlyMap<string, Buffer> | null = null;
  #count = 0;

  get members(): readonly { readonly id: string; readonly instance: string | null }[] {
    return this.#members;
  }

  join(id: string, instance: string | null, subscription: Buffer): Promise<JoinAnswer> {
    const named = this.#members.find((each) => instance !== null && each.instance === instance);
    if (id !== '' && !this.#members.some((each) => each.id === id)) {
      return Promise.resolve({ ...NO_JOIN, error: named === undefined ? 25 : 82, id });
    }
    // A new connection under a name replaces the old one, which gets an error.
    if (named !== undefined && named.id !== id) this.#drop(named, 82);
    const before = this.#members.find((each) => each.id === id);
    if (before !== undefined) this.#members.splice(this.#members.indexOf(before), 1);
    this.#count += 1;
    const member: Member = {
      id: id === '' ? `member-${this.#count}` : id,
      ...{ instance, subscription, join: null, sync: null },
    };
    this.#members.push(member);
    this.#isJoining = true;
    const { promise, resolve } = Promise.withResolvers<JoinAnswer>();
    member.join = resolve;
    this.#complete();
    return promise;
  }

  sync(id: string, generation: number, assignments: ReadonlyMap<string, Buffer>) {
    const error = this.check(id, generation);
    if (error !== 0) return Promise.resolve({ error, assignment: Buffer.alloc(0) });
    const { promise, resolve } = Promise.withResolvers<{ error: number; assignment: Buffer }>();
    const own = this.#members.find((each) => each.id === id);
    if (own !== undefined) own.sync = resolve;
    if (assignments.size > 0) this.#assignments = assignments;
    if (this.#assignments !== null) {
      for (const member of this.#members) {
        member.sync?.({ error: 0, assignment: this.#assignments.get(member.id) ?? Buffer.alloc(0) });
        member.sync = null;
      }
    }
    return promise;
  }

  /** @returns the error for a member of this generation */
  check(id: string, generation: number): number {
    const known = this.#members.find((each) => each.id === id);
    if (known === undefined) return this.#gone.get(id) ?? 25;
    if (this.#isJoining) return 27;
    return generation === this.generation ? 0 : 22;
  }

  leave(id: string): void {
    const member = this.#members.find((each) => each.id === id);
    if (member === undefined) return;
    this.#drop(member, 25);
    this.#isJoining = this.#members.length > 0;
    this.#complete();
  }

  /** As if somebody else had come: everybody has to join again. */
  rebalance(): void {
    this.#isJoining = true;
  }

  readonly #gone = new Map<string, number>();

  #drop(member: Member, error: number): void {
    this.#members.splice(this.#members.indexOf(member), 1);
    this.#gone.set(member.id, error);
    member.join?.({ ...NO_JOIN, error, id: member.id });
    member.sync?.({ error, assignment: Buffer.alloc(0) });
  }

  #complete(): void {
    if (!this.#members.every(({ join }) => join !== null) || this.#members.length === 0) return;
    this.generation += 1;
    this.#assignments = null;
    this.#isJoining = false;
    const leader = this.#members[0]?.id ?? '';
    const members = this.#members.map(({ id, instance, subscription }) => ({ id, instance, subscription }));
    for (const member of this.#members) {
      const { id } = member;
      member.join?.({
        error: 0,
        generation: this.generation,
        leader,
        id,
        members: id === leader ? members : [],
      });
      member.join = null;
    }
  }
}
