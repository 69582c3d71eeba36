import { ApiError, unavailable } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sourceOf } from './rate-limit.ts';

/** A body that takes longer than this, and than its length allows for, makes room for others when there is none. */
const GRACE_MS = 10_000;
const SLOWEST_BYTES_PER_MS = 32;

interface Reservation {
  readonly payer: string;
  readonly bytes: number;
  readonly since: number;
  /** Refuses the request while its body is still arriving; null once it has arrived. */
  giveUp: (() => void) | null;
}

/** A reserved part of the budget. */
export interface BodyRoom {
  /** The body has arrived: it keeps its room, but is no longer given up for being slow. */
  arrived(): void;
  /** Safe to call twice. */
  release(): void;
}

/**
 * The memory for request bodies, shared by all requests of the process. One payer gets no more than what it leaves free, so that some room is left for
 * the next one; alone, that is half of it.
 */
export class BodyBudget {
  readonly #total: number;
  readonly #now: () => number;
  readonly #reserved = new Set<Reservation>();
  readonly #byPayer = new Map<string, number>();
  #used = 0;

  /** @param now monotonic milliseconds */
  constructor(totalBytes: number, now: () => number = () => performance.now()) {
    this.#total = totalBytes;
    this.#now = now;
  }

  get usedBytes(): number {
    return this.#used;
  }

  get totalBytes(): number {
    return this.#total;
  }

  /**
   * Reserves room for a body before it is read.
   * @param giveUp refuses the request; called when others need the room and the body arrives too slowly
   * @returns null if there is no room
   */
  take(payer: string, bytes: number, giveUp: () => void): BodyRoom | null {
    if (!this.#fits(payer, bytes)) this.#giveUpSlowOnes();
    if (!this.#fits(payer, bytes)) return null;
    const reservation: Reservation = { payer, bytes, since: this.#now(), giveUp };
    this.#reserved.add(reservation);
    this.#count(payer, bytes);
    return {
      arrived() {
        reservation.giveUp = null;
      },
      release: () => {
        if (this.#reserved.delete(reservation)) this.#count(payer, -bytes);
      },
    };
  }

  #fits(payer: string, bytes: number): boolean {
    // A single body is limited by its own limit.
    if (this.#used === 0) return true;
    const free = this.#total - this.#used - bytes;
    const held = this.#byPayer.get(payer) ?? 0;
    return free >= 0 && (held === 0 || held + bytes <= free);
  }

  #giveUpSlowOnes(): void {
    const now = this.#now();
    for (const reservation of this.#reserved) {
      const allowedMs = GRACE_MS + reservation.bytes / SLOWEST_BYTES_PER_MS;
      if (reservation.giveUp === null || now - reservation.since < allowedMs) continue;
      this.#reserved.delete(reservation);
      this.#count(reservation.payer, -reservation.bytes);
      reservation.giveUp();
    }
  }

  #count(payer: string, bytes: number): void {
    this.#used += bytes;
    const held = (this.#byPayer.get(payer) ?? 0) + bytes;
    if (held > 0) this.#byPayer.set(payer, held);
    else this.#byPayer.delete(payer);
  }
}

/**
 * Reserves room for the request's body until the response is sent, or the connection is lost.
 * @throws ApiError `overloaded` (503) if there is no room
 */
export function reserveBody(budget: BodyBudget, request: FastifyRequest, reply: FastifyReply): void {
  const bytes = bodyBytes(request);
  if (bytes === 0) return;
  const room = budget.take(payerOf(request), bytes, () => {
    void reply
      .header('connection', 'close')
      .send(new ApiError('request_timeout', message('api.body_too_slow')));
  });
  if (room === null) throw unavailable('overloaded', message('api.bodies_too_large'));
  request.bodyRoom = room;
  reply.raw.once('close', () => room.release());
}

/** What the body may take; 0 if there is none, or if it is refused for its size anyway. */
function bodyBytes({ headers, routeOptions }: FastifyRequest): number {
  if (routeOptions.config.takesFile === true) return 0;
  const limit = routeOptions.bodyLimit ?? 0;
  if (headers['transfer-encoding'] !== undefined) return limit;
  const length = Number(headers['content-length'] ?? 0);
  return length > limit ? 0 : length;
}

/** The organisation; for requests that don't tell it before their body is read, the source address. */
function payerOf({ principal, session, ip }: FastifyRequest): string {
  const organisationId = principal?.organisationId ?? session?.organisation?.id;
  if (organisationId !== undefined) return `organisation ${organisationId}`;
  return `address ${sourceOf(ip)}`;
}
