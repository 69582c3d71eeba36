import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  stringifyJson,
} from '@millrace/engine';
import { readSchedule, type ScheduleDefinition } from '@millrace/triggers';

/** A schedule trigger of an active workflow. */
export interface ScheduledTrigger {
  /** Null while it is the workflow's only one. */
  readonly nodeId: string | null;
  readonly definition: ScheduleDefinition;
  /** The time of its next fire; null if there will be none. */
  readonly nextMs: number | null;
  readonly fireCount: number;
}

/** The parts of a row that say when it fires. */
export interface StoredSchedule {
  /** JSON text: the definition of a single trigger, or `{triggers}` with the state of several. */
  readonly definition: string;
  readonly next_fire_time: Date | null;
  readonly fire_count: number;
}

/**
 * The triggers of a row, in the flow's order. A workflow has one row, which is locked while it fires or changes. The row of a single trigger
 * has the form that the previous release reads and writes.
 * @throws Error for one that can't be read
 */
export function readSchedules(row: StoredSchedule): readonly ScheduledTrigger[] {
  const stored: JsonValue = parseJson(row.definition);
  const { next_fire_time: next, fire_count: fireCount } = row;
  if (isJsonObject(stored) && stored.triggers !== undefined && isJsonArray(stored.triggers)) {
    const triggers = stored.triggers.map((each) => readTrigger(isJsonObject(each) ? each : {}));
    // A stopped row has no next fire, even if its triggers still have one.
    return next === null ? triggers.map((trigger) => ({ ...trigger, nextMs: null })) : triggers;
  }
  return [{ nodeId: null, definition: definitionIn(stored), nextMs: next?.getTime() ?? null, fireCount }];
}

function readTrigger({
  node_id: nodeId,
  definition,
  next_fire_time: next,
  fire_count: count,
}: JsonObject): ScheduledTrigger {
  return {
    nodeId: typeof nodeId === 'string' ? nodeId : null,
    definition: definitionIn(definition ?? null),
    nextMs: typeof next === 'string' ? Date.parse(next) : null,
    fireCount: Number(count ?? 0),
  };
}

function definitionIn(stored: JsonValue): ScheduleDefinition {
  const definition = isJsonObject(stored) ? readSchedule(stored) : null;
  if (definition === null) throw new Error('the definition of a schedule cannot be read');
  return definition;
}

/** JSON text of the row's definition. */
export function toStored(triggers: readonly ScheduledTrigger[]): string {
  const [only, ...others] = triggers;
  if (only !== undefined && others.length === 0) return stringifyJson(only.definition);
  return stringifyJson({
    triggers: triggers.map(({ nodeId, definition, nextMs, fireCount }) => ({
      node_id: nodeId,
      definition,
      next_fire_time: nextMs === null ? null : new Date(nextMs).toISOString(),
      fire_count: fireCount,
    })),
  });
}

/** The fire that is due first: its time, and when it is due; null if there will be none. */
export function nextOf(
  triggers: readonly ScheduledTrigger[],
  dueTime: (definition: ScheduleDefinition, fireMs: number) => number,
): { readonly fireMs: number; readonly dueMs: number } | null {
  const next = triggers.flatMap(({ definition, nextMs }) =>
    nextMs === null ? [] : [{ fireMs: nextMs, dueMs: dueTime(definition, nextMs) }],
  );
  return next.toSorted((left, right) => left.dueMs - right.dueMs)[0] ?? null;
}
