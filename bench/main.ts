import { HELP, parseOptions, type Task, UsageError } from './options.ts';
import { describeMachine, readMachineTime, stolenShare } from './process-facts.ts';
import { documentNewest, readCommit, recordResult } from './recorded-results.ts';
import { formatReport } from './report.ts';
import { type BenchResult, judge, summarise } from './result.ts';
import type { Readings, Row } from './row.ts';
import { ROWS } from './rows/all.ts';
import { openWorkbench, type Workbench } from './workbench.ts';

type Measurement = Extract<Task, { kind: 'measure' }>;

/** Standard output is reserved for the result. */
function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

async function run(task: Task): Promise<void> {
  switch (task.kind) {
    case 'help':
      return print(HELP);
    case 'document':
      if (!documentNewest(task.check) && task.check) {
        throw new Error('docs/performance.md is not what npm run bench -- --document writes: run it');
      }
      return;
    case 'measure': {
      const result = await measure(task);
      print(task.json ? JSON.stringify(result) : formatReport(result));
      if (task.record) progress(`kept as ${recordResult(result)}`);
    }
  }
}

async function measure(task: Measurement): Promise<BenchResult> {
  const [date, commit, timeBefore] = [new Date().toISOString(), readCommit(), await readMachineTime()];
  const rows = ROWS.filter(({ id }) => task.rows.includes(id));
  const bench = await openWorkbench(task.effort, progress, task.historyFolder);
  try {
    const rounds = await measureRounds(bench, rows, task.rounds);
    const metrics = summarise(
      rows.flatMap((row) => row.metrics),
      rounds,
    );
    return {
      date,
      commit,
      machine: describeMachine(bench.postgresVersion),
      effort: { ...task.effort, rounds: task.rounds },
      stolenShare: stolenShare(timeBefore, await readMachineTime()),
      metrics,
      aims: judge(metrics),
    };
  } finally {
    await bench.close();
  }
}

/** Every row once per round, so that a slow minute of the machine affects all of them. */
async function measureRounds(bench: Workbench, rows: readonly Row[], count: number): Promise<Readings[]> {
  const rounds: Readings[] = [];
  for (let round = 1; round <= count; round += 1) {
    let readings: Readings = {};
    for (const row of rows) {
      progress(`round ${round} of ${count}: ${row.id}`);
      readings = { ...readings, ...(await row.measure(bench)) };
    }
    rounds.push(readings);
  }
  return rounds;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

try {
  const idsOf = (rows: readonly Row[]) => rows.map(({ id }) => id);
  const rowIds = idsOf(ROWS.filter(({ isNamedOnly }) => !isNamedOnly));
  const namedOnly = idsOf(ROWS.filter(({ isNamedOnly }) => isNamedOnly));
  await run(parseOptions(process.argv.slice(2), rowIds, namedOnly));
} catch (error) {
  if (error instanceof UsageError) progress(`${error.message}\n\n${HELP}`);
  else progress(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exitCode = 1;
}
