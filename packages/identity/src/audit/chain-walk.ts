import type { AuditProblemKind } from '@millrace/admin-api';
import { type ChainedEntry, type ChainHead, chainHash, NO_HASH } from './chain.ts';
import type { ChainRow, SealedRow } from './chain-store.ts';

/** Problems of a chain that are listed; more are counted. */
export const MAX_LISTED = 100;

/** Something that isn't as it was recorded. */
export interface AuditProblem {
  readonly kind: AuditProblemKind;
  /** Null if it doesn't concern one entry. */
  readonly entryId: number | null;
  /** Null if it isn't about a place in the chain. */
  readonly position: number | null;
}

/** What comparing a chain with its entries showed. */
export interface Verification {
  readonly organisationId: number;
  /** Entries of the chain that were looked at. */
  readonly entries: number;
  /** Entries at the beginning that exceeded their retention. */
  readonly dropped: number;
  /** The end of the chain; null as long as it is empty. */
  readonly head: ChainHead | null;
  /** The first problems, at most 100. */
  readonly problems: readonly AuditProblem[];
  readonly problemCount: number;
}

/** Where a chain begins and ends. */
export type Chain = Pick<ChainRow, 'organisation_id' | 'length' | 'head' | 'dropped' | 'dropped_hash'>;

/** Goes through a chain from its beginning to its end. */
export class ChainWalk {
  readonly #chain: Chain;
  readonly #heads: ReadonlyMap<number, string>;
  readonly #problems: AuditProblem[] = [];
  #problemCount = 0;
  #entries = 0;
  /** Entries that are there and sealed. */
  present = 0;
  /** What the next hash may follow: the stored hash and, if that isn't the one that was computed, the computed one; empty after a gap. */
  #previous: readonly Buffer[];
  /** The last position that was visited, or dropped. */
  position: number;

  /**
   * @param stored undefined as long as nothing was sealed
   * @param heads places of chains that were kept elsewhere
   */
  constructor(organisationId: number, stored: Chain | undefined, heads: readonly ChainHead[] = []) {
    const chain = stored ?? emptyChain(organisationId);
    this.#chain = chain;
    this.position = chain.dropped;
    this.#previous = [chain.dropped_hash];
    const own = heads.filter((head) => head.organisationId === chain.organisation_id);
    this.#heads = new Map(own.map((head) => [head.position, head.hash]));
    for (const [position, hash] of this.#heads) {
      const isKnown = position > chain.dropped && position <= chain.length;
      const isBeginning = position === chain.dropped && chain.dropped_hash.toString('hex') === hash;
      if (isKnown || isBeginning) continue;
      this.report({
        kind: position <= chain.dropped ? 'head_dropped' : 'head_differs',
        entryId: null,
        position,
      });
    }
  }

  visit(row: SealedRow): void {
    if (row.position !== this.position + 1) {
      this.report({ kind: 'seal_missing', entryId: null, position: this.position + 1 });
      this.#previous = [];
    }
    this.position = row.position;
    this.#entries += 1;
    const kept = this.#heads.get(row.position);
    if (kept !== undefined && kept !== row.hash.toString('hex')) {
      this.report({ kind: 'head_differs', entryId: row.entry_id, position: row.position });
    }
    this.#follow(row);
  }

  #follow(row: SealedRow): void {
    const { position, entry_id: entryId, hash } = row;
    if (row.id === null || row.organisation_id !== this.#chain.organisation_id) {
      this.report({ kind: 'entry_missing', entryId, position });
      this.#previous = [hash];
      return;
    }
    this.present += 1;
    const computed = this.#previous.map((previous) => chainHash(previous, position, row as ChainedEntry));
    const fits = computed.length === 0 || computed.some((each) => each.equals(hash));
    if (!fits) this.report({ kind: 'entry_changed', entryId, position });
    // If only the stored hash was changed, what comes next follows the computed one, and is unchanged itself.
    this.#previous = fits ? [hash] : [hash, ...computed.slice(0, 1)];
  }

  /** The stored end of the chain says whether something is missing there. */
  end(): void {
    const { length, head } = this.#chain;
    if (this.position === length && this.#previous.some((hash) => hash.equals(head))) return;
    const isShort = this.position < length;
    this.report({
      kind: isShort ? 'seal_missing' : 'head_differs',
      entryId: null,
      position: isShort ? this.position + 1 : this.position,
    });
  }

  report(problem: AuditProblem): void {
    this.#problemCount += 1;
    if (this.#problems.length < MAX_LISTED) this.#problems.push(problem);
  }

  result(): Verification {
    const { organisation_id: organisationId, length, dropped, head } = this.#chain;
    return {
      organisationId,
      entries: this.#entries,
      dropped,
      head: length === 0 ? null : { organisationId, position: length, hash: head.toString('hex') },
      problems: this.#problems,
      problemCount: this.#problemCount,
    };
  }
}

function emptyChain(organisationId: number): Chain {
  return {
    organisation_id: organisationId,
    length: 0,
    head: NO_HASH,
    dropped: 0,
    dropped_hash: NO_HASH,
  };
}
