import { readdir, readFile } from 'node:fs/promises';
import { availableParallelism, cpus, release, totalmem } from 'node:os';

/** Linux counts CPU time in these (`getconf CLK_TCK`; 100 on every supported architecture). */
const TICK_MS = 10;
const MIB = 1024 * 1024;

/** The machine a result was measured on. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryMib: number;
  readonly kernel: string;
  readonly node: string;
  readonly postgres: string;
}

/** @param postgres the version reported by the server */
export function describeMachine(postgres: string): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryMib: Math.round(totalmem() / MIB),
    kernel: release(),
    node: process.versions.node,
    postgres,
  };
}

/** CPU time of the whole machine since it started, in ticks. */
export interface MachineTime {
  readonly total: number;
  /** Time the hypervisor gave to other machines while this one wanted it. */
  readonly stolen: number;
}

/** Reads the machine's CPU time, summed over all cores. */
export async function readMachineTime(): Promise<MachineTime> {
  return parseMachineTime(await readFile('/proc/stat', 'utf8'));
}

/** @param text the content of /proc/stat (proc_stat(5)) */
export function parseMachineTime(text: string): MachineTime {
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, stolen = 0] = (
    text.split('\n', 1)[0] ?? ''
  )
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return { total: user + nice + system + idle + iowait + irq + softirq + stolen, stolen };
}

/** Share of the CPU time between two readings that was stolen, 0 to 1. */
export function stolenShare(before: MachineTime, after: MachineTime): number {
  const total = after.total - before.total;
  return total === 0 ? 0 : (after.stolen - before.stolen) / total;
}

/** CPU time in milliseconds used by these processes so far; those that have ended count as 0. */
export async function readCpuMs(pids: readonly number[]): Promise<number> {
  const times = await Promise.all(
    pids.map(async (pid) => {
      const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
      // The second field is a name in parentheses that may contain anything; utime and stime are the 14th and 15th.
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_MS;
    }),
  );
  return times.reduce((sum, ms) => sum + ms, 0);
}

/** Resident memory of one process in MiB. */
export async function readResidentMib(pid: number): Promise<number> {
  return fieldInMib(await readFile(`/proc/${pid}/status`, 'utf8'), 'VmRSS');
}

/** Memory of processes that share pages, each page counted once, in MiB. */
export async function readProportionalMib(pids: readonly number[]): Promise<number> {
  const sizes = await Promise.all(
    pids.map(async (pid) =>
      fieldInMib(await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => ''), 'Pss'),
    ),
  );
  return sizes.reduce((sum, mib) => sum + mib, 0);
}

/** A process and its descendants, by id. */
export async function withChildren(pid: number): Promise<number[]> {
  // One that has ended meanwhile has none.
  const tasks = await readdir(`/proc/${pid}/task`).catch(() => []);
  const lists = await Promise.all(
    tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8').catch(() => '')),
  );
  const children = lists.join(' ').split(/\s+/).filter(Boolean).map(Number);
  return [pid, ...(await Promise.all(children.map(withChildren))).flat()];
}

function fieldInMib(text: string, name: string): number {
  const kib = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1];
  return kib === undefined ? 0 : Number(kib) / 1024;
}
