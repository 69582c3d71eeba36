import type { ExecutionItem } from '@millrace/admin-api';
import { ApiProblem, call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { useRef, useState } from 'react';

export type BulkAction = 'cancel' | 'rerun' | 'rerunFailed';

/** Concurrent requests. */
const AT_ONCE = 4;
/** Progress interval: rendering every step would take longer than the work. */
const REPORT_MS = 100;

/** Results of a bulk action. */
export interface BulkRun {
  readonly total: number;
  readonly done: number;
  /** By the service's message. */
  readonly refused: ReadonlyMap<string, readonly ExecutionItem[]>;
  /** Set if the run was aborted: the service was unreachable, or the session had ended. */
  readonly brokenBy: string | null;
  readonly isOver: boolean;
  readonly isStopped: boolean;
}

/** Applies an action to executions one by one and collects the rejected ones with their reasons. */
export function useBulkRun(action: BulkAction, targets: readonly ExecutionItem[]) {
  const org = useOrg();
  const [run, setRun] = useState<BulkRun | null>(null);
  const stop = useRef(false);
  const begin = async () => {
    let done = 0;
    let brokenBy: string | null = null;
    let reportedAt = 0;
    const refused = new Map<string, ExecutionItem[]>();
    const report = (isOver: boolean) => {
      if (!isOver && performance.now() - reportedAt < REPORT_MS) return;
      reportedAt = performance.now();
      const isStopped = isOver && stop.current;
      setRun({ total: targets.length, done, refused: new Map(refused), brokenBy, isOver, isStopped });
    };
    report(false);
    const isOver = () => stop.current || brokenBy !== null;
    await forEach(targets, isOver, async (item) => {
      const problem = await perform(org, action, item.id).then(() => null, asError);
      if (problem === null) done += 1;
      else if (isAboutThis(problem)) keep(refused, problem.message, item);
      else brokenBy = problem.message;
      report(false);
    });
    report(true);
  };
  return {
    run,
    begin: () => void begin(),
    stop: () => {
      stop.current = true;
    },
  };
}

function keep(refused: Map<string, ExecutionItem[]>, reason: string, item: ExecutionItem): void {
  const known = refused.get(reason);
  if (known === undefined) refused.set(reason, [item]);
  else known.push(item);
}

/** Any other error would affect all the remaining ones too. */
function isAboutThis(error: Error): boolean {
  return error instanceof ApiProblem && [404, 409, 412, 422].includes(error.status);
}

async function perform(org: number, action: BulkAction, execution: number): Promise<void> {
  const params = { org, execution };
  if (action === 'cancel') {
    await call('POST /orgs/:org/executions/:execution/cancel', { params });
    return;
  }
  const from = action === 'rerun' ? ('start' as const) : ('failed_node' as const);
  await call('POST /orgs/:org/executions/:execution/rerun', { params, body: { from } });
}

async function forEach<T>(
  items: readonly T[],
  isOver: () => boolean,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (!isOver()) {
      const item = items[next];
      next += 1;
      if (item === undefined) return;
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
