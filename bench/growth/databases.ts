import type { Bench } from '../row.ts';
import { type Grown, ORGANISATIONS, openHistory } from './history.ts';
import { PAGE_ITEMS } from './reads.ts';

const opened = new Map<string, Promise<Grown>>();

/** One page of executions for each organisation: an empty page would cost less whatever the history. */
export function newDatabase(bench: Bench): Promise<Grown> {
  return open(bench, 'bench_growth_new', ORGANISATIONS * PAGE_ITEMS);
}

/** The history that was asked for. */
export function longDatabase(bench: Bench): Promise<Grown> {
  return open(bench, 'bench_growth_long', bench.effort.historyRows ?? 0);
}

/** Rows and rounds of a run share their databases. */
function open(bench: Bench, name: string, rows: number): Promise<Grown> {
  const made = opened.get(name) ?? openHistory(bench, name, rows);
  opened.set(name, made);
  return made;
}
