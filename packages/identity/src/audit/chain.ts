import { hash } from 'node:crypto';

/** An entry as its hash covers it: everything that is recorded, as text where a conversion could lose something. */
export interface ChainedEntry {
  readonly id: number;
  readonly organisation_id: number;
  /** With microseconds, in UTC. */
  readonly occurred_at: string;
  readonly action: string;
  readonly actor: string;
  readonly user_id: number | null;
  readonly member_id: number | null;
  readonly api_key_id: number | null;
  readonly source_ip: string | null;
  readonly request_id: string | null;
  readonly repeat_key: string | null;
  readonly repeats: number;
  readonly last_occurred_at: string | null;
  /** The stored JSON text, character by character. */
  readonly details: string;
}

/** A place in a chain that can be kept elsewhere: whoever rewrites entries up to it can't reproduce its hash. */
export interface ChainHead {
  readonly organisationId: number;
  readonly position: number;
  /** Hex. */
  readonly hash: string;
}

/** What the first entry of a chain follows. */
export const NO_HASH: Buffer = Buffer.alloc(32);

/**
 * The hash of an entry at a position: SHA-256 of the previous hash and of the entry as a JSON array, which docs/operations.md describes.
 * @param previous the hash of the entry before
 */
export function chainHash(previous: Buffer, position: number, entry: ChainedEntry): Buffer {
  const content = JSON.stringify([
    position,
    entry.id,
    entry.organisation_id,
    entry.occurred_at,
    entry.action,
    entry.actor,
    entry.user_id,
    entry.member_id,
    entry.api_key_id,
    entry.source_ip,
    entry.request_id,
    entry.repeat_key,
    entry.repeats,
    entry.last_occurred_at,
    entry.details,
  ]);
  return hash('sha256', Buffer.concat([previous, Buffer.from(content)]), 'buffer');
}

/** As it is logged, printed, and given to `millrace audit verify --head`. */
export function formatHead({ organisationId, position, hash }: ChainHead): string {
  return `${organisationId}:${position}:${hash}`;
}

/** Null if the text isn't a head. */
export function parseHead(text: string): ChainHead | null {
  const match = /^([1-9]\d{0,15}):([1-9]\d{0,15}):([0-9a-f]{64})$/.exec(text.trim());
  if (match === null) return null;
  return { organisationId: Number(match[1]), position: Number(match[2]), hash: match[3] ?? '' };
}
