import { type Flow, type JsonValue, parseJson, stringifyJson } from '@millrace/engine';

/** What was on the canvas when the page went away before the service had confirmed it. */
export interface LocalCopy {
  readonly flow: Flow;
  readonly baseVersion: number;
  /** Of the draft that it follows. */
  readonly revision: number;
  /** A draft was on its way, so that the service may have one revision more. */
  readonly wasUnderWay: boolean;
}

function keyOf(userId: number, workflowId: number): string {
  return `millrace.unkept.${userId}.${workflowId}`;
}

/** Puts it into the browser; false when there is no room. */
export function putLocalCopy(userId: number, workflowId: number, copy: LocalCopy): boolean {
  try {
    localStorage.setItem(keyOf(userId, workflowId), stringifyJson(copy as unknown as JsonValue));
    return true;
  } catch {
    return false;
  }
}

export function dropLocalCopy(userId: number, workflowId: number): void {
  localStorage.removeItem(keyOf(userId, workflowId));
}

/** The copy that was left behind, if it follows the draft that the service has (revision 0: none). */
export function takeLocalCopy(userId: number, workflowId: number, revision: number): LocalCopy | null {
  const text = localStorage.getItem(keyOf(userId, workflowId));
  if (text === null) return null;
  dropLocalCopy(userId, workflowId);
  try {
    const copy = parseJson(text) as unknown as LocalCopy;
    const follows = copy.revision === revision || (copy.wasUnderWay && copy.revision + 1 === revision);
    return follows && Array.isArray(copy.flow.nodes) && Array.isArray(copy.flow.edges) ? copy : null;
  } catch {
    return null;
  }
}
