import { coalesce } from '@millrace/database/coalesce';
import type { Queryable } from '@millrace/database/database';
import { type CompileResult, compileWork, type NodeRegistry, parseJson, remember } from '@millrace/engine';
import { finishInTurns } from './turns.ts';

/**
 * The node types with which a version runs, in addition to the common ones. Not `isFinal`: they may differ the next time, so the plan isn't
 * cached.
 */
export type TypesOfVersion = (
  version: { readonly workflowId: number; readonly version: number },
  flowJson: string,
) => Promise<{ readonly registry: NodeRegistry; readonly isFinal: boolean }>;

/** Compiled workflow versions. A version never changes, so a cached one is never stale. */
export interface PlanCache {
  /** @throws Error if there is no such version; DatabaseUnavailableError */
  get(workflowId: number, version: number): Promise<CompileResult>;
}

const MAX_PLANS = 1_000;
/** Versions loaded by one statement; each may have megabytes of flow_data. */
const MAX_LOADED_AT_ONCE = 20;

interface VersionKey {
  readonly workflowId: number;
  readonly version: number;
}

/** Keeps the most recently used plans; concurrent look-ups of missing versions share a statement. */
export function createPlanCache(db: Queryable, typesOf: TypesOfVersion): PlanCache {
  const plans = new Map<string, Promise<CompileResult>>();
  const load = coalesce<VersionKey, string | undefined>({
    run: (keys) => loadFlows(db, keys),
    maxItems: MAX_LOADED_AT_ONCE,
  });

  async function compileVersion(key: VersionKey, onPassing: () => void): Promise<CompileResult> {
    const flowJson = await load(key);
    if (flowJson === undefined) throw new Error(`workflow ${key.workflowId} has no version ${key.version}`);
    const { registry, isFinal } = await typesOf(key, flowJson);
    if (!isFinal) onPassing();
    return finishInTurns(compileWork(parseJson(flowJson), registry));
  }

  return {
    get(workflowId, version) {
      const name = `${workflowId}.${version}`;
      const known = plans.get(name);
      const forget = (): void => void plans.delete(name);
      const plan = known ?? compileVersion({ workflowId, version }, forget);
      // Cached plans, too, which keeps the order by use.
      remember(plans, name, plan, MAX_PLANS);
      if (known === undefined) plan.catch(() => plans.get(name) === plan && plans.delete(name));
      return plan;
    },
  };
}

async function loadFlows(db: Queryable, keys: readonly VersionKey[]): Promise<(string | undefined)[]> {
  const rows = await db.query<{ workflow_id: number; version: number; flow_data: string }>(
    `SELECT v.workflow_id, v.version, v.flow_data
     FROM unnest($1::bigint[], $2::integer[]) AS k (workflow_id, version)
     JOIN workflow_versions v USING (workflow_id, version)`,
    [keys.map((key) => key.workflowId), keys.map((key) => key.version)],
    'load_flows',
  );
  const flows = new Map(rows.map((row) => [`${row.workflow_id}.${row.version}`, row.flow_data]));
  return keys.map((key) => flows.get(`${key.workflowId}.${key.version}`));
}
