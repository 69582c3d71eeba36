import { LEASE_MS } from '../faults/support/service-process.ts';
import type { Random } from './random.ts';

/** How the receiver misbehaves: connections are cut, requests refused, or never answered. */
export type Trouble = 'cut' | 500 | 429 | 'hang';

/** One fault to inject; `member` is the name of a process of the service. */
export type Fault =
  | { readonly kind: 'kill' | 'terminate' | 'cut'; readonly member: string }
  | { readonly kind: 'stop' | 'swallow'; readonly member: string; readonly ms: number }
  | { readonly kind: 'delay'; readonly member: string; readonly delayMs: number; readonly ms: number }
  | { readonly kind: 'lose reply'; readonly member: string; readonly statement: string }
  | { readonly kind: 'step clock'; readonly member: string; readonly offsetMs: number }
  | { readonly kind: 'kill postgres' | 'stop postgres'; readonly ms: number }
  | { readonly kind: 'terminate sessions' }
  | { readonly kind: 'fill disk'; readonly ms: number }
  | { readonly kind: 'receiver'; readonly trouble: Trouble; readonly ms: number };

export interface Members {
  readonly apis: readonly string[];
  readonly workers: readonly string[];
}

const HOUR_MS = 3_600_000;
const BELOW_LEASE = [200, LEASE_MS - 1_500] as const;
const BEYOND_LEASE = [LEASE_MS + 500, LEASE_MS + 3_000] as const;

type Draw = (random: Random, members: Members) => Fault;

const any = ({ apis, workers }: Members): string[] => [...apis, ...workers];
const receiver =
  (trouble: Trouble): Draw =>
  (random) => ({ kind: 'receiver', trouble, ms: random.between(300, 2_500) });

/** Every kind as often as it is in a round. */
const ROUND: readonly Draw[] = [
  (random, { workers }) => ({ kind: 'kill', member: random.pick(workers) }),
  (random, { workers }) => ({ kind: 'kill', member: random.pick(workers) }),
  (random, { apis }) => ({ kind: 'kill', member: random.pick(apis) }),
  (random, { workers }) => ({ kind: 'terminate', member: random.pick(workers) }),
  (random, { apis }) => ({ kind: 'terminate', member: random.pick(apis) }),
  (random, members) => ({
    kind: 'stop',
    member: random.pick(any(members)),
    ms: random.between(...BELOW_LEASE),
  }),
  (random, { workers }) => ({
    kind: 'stop',
    member: random.pick(workers),
    ms: random.between(...BEYOND_LEASE),
  }),
  (random, members) => ({ kind: 'cut', member: random.pick(any(members)) }),
  (random, members) => ({
    kind: 'delay',
    member: random.pick(any(members)),
    delayMs: random.between(5, 400),
    ms: random.between(500, 4_000),
  }),
  (random, members) => ({
    kind: 'swallow',
    member: random.pick(any(members)),
    ms: random.between(...BELOW_LEASE),
  }),
  (random, { workers }) => ({
    kind: 'swallow',
    member: random.pick(workers),
    ms: random.between(...BEYOND_LEASE),
  }),
  (random, { apis }) => ({ kind: 'lose reply', member: random.pick(apis), statement: 'insert_executions' }),
  (random, { workers }) => ({
    kind: 'lose reply',
    member: random.pick(workers),
    statement: random.pick(['apply_fenced_writes', 'suspect_given_back', 'renew_worker_lease']),
  }),
  (random) => ({ kind: 'kill postgres', ms: random.chance(60) ? 0 : random.between(500, LEASE_MS + 1_500) }),
  (random) => ({
    kind: 'stop postgres',
    ms: random.chance(70) ? random.between(...BELOW_LEASE) : random.between(...BEYOND_LEASE),
  }),
  () => ({ kind: 'terminate sessions' }),
  receiver('cut'),
  receiver(500),
  receiver(429),
  receiver('hang'),
  (random, members) => ({
    kind: 'step clock',
    member: random.pick(any(members)),
    offsetMs: random.pick([-1, 1]) * random.between(HOUR_MS / 60, 30 * HOUR_MS),
  }),
];

const FILL_DISK: Draw = (random) => ({ kind: 'fill disk', ms: random.between(500, 3_500) });

/**
 * The faults of a campaign in their order: shuffled rounds, each of which has every kind. The same seed, the same plan.
 *
 * @param hasDisk whether the disk can be filled
 */
export function planFaults(random: Random, count: number, members: Members, hasDisk: boolean): Fault[] {
  const round = hasDisk ? [...ROUND, FILL_DISK] : ROUND;
  const faults: Fault[] = [];
  while (faults.length < count) {
    faults.push(...random.shuffle(round).map((draw) => draw(random, members)));
  }
  return faults.slice(0, count);
}

/** What a fault keeps to itself: faults with the same one don't overlap. */
export function resourceOf(fault: Fault): string {
  if ('member' in fault) return fault.member;
  return fault.kind === 'receiver' ? 'receiver' : 'postgres';
}

/** The kind as it is counted in the report: stops and black holes below and beyond the lease differ. */
export function kindOf(fault: Fault): string {
  switch (fault.kind) {
    case 'kill':
    case 'terminate':
      return `${fault.kind === 'kill' ? 'SIGKILL' : 'SIGTERM'} of ${roleOf(fault.member)}`;
    case 'stop':
      return `SIGSTOP of ${roleOf(fault.member)}, ${lengthOf(fault.ms)}`;
    case 'swallow':
      return `black hole, ${lengthOf(fault.ms)}`;
    case 'cut':
      return 'connections cut';
    case 'delay':
      return 'network delay';
    case 'lose reply':
      return 'reply lost';
    case 'step clock':
      return 'clock step';
    case 'kill postgres':
      return 'PostgreSQL killed';
    case 'stop postgres':
      return `SIGSTOP of PostgreSQL, ${lengthOf(fault.ms)}`;
    case 'terminate sessions':
      return 'sessions terminated';
    case 'fill disk':
      return 'disk full';
    case 'receiver':
      return `receiver: ${fault.trouble}`;
  }
}

const roleOf = (member: string): string => member.split(' ', 1)[0] ?? member;
const lengthOf = (ms: number): string => (ms > LEASE_MS ? 'beyond the lease' : 'below the lease');
