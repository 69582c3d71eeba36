import { CodePool } from './code/pool.ts';

/** On few processors, requests and running executions come first: a check may take a second or two of its own. */
const NICENESS = 3;

/**
 * For checks of what users send: one thread for each process, apart from those that run code for minutes. Started for the first long check,
 * and ended when it is idle.
 */
export const checkPool = new CodePool(1, undefined, NICENESS);
