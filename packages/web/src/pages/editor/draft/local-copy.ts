import { canonicalJson, type Flow, parseJson, stringifyJson } from '@millrace/engine';

/** What was on the canvas when the page went away before the service had confirmed it. */
export type LocalCopy = {
  readonly flow: Flow;
  readonly baseVersion: number;
  /** Of the draft that it follows; 0: there was none. */
  readonly revision: number;
  /** The draft that was on its way: the service may have it, under a revision that nobody here was told. */
  readonly sent: Flow | null;
};

/** What the service has: a draft, or none (revision 0) and the saved version. */
export interface KeptFlow {
  readonly flow: Flow;
  readonly revision: number;
}

/** Each window leaves its own copy, so that two of one person do not write over each other's. */
const WINDOW = crypto.getRandomValues(new Uint32Array(2)).join('-');

function prefixOf(userId: number, workflowId: number): string {
  return `millrace.unkept.${userId}.${workflowId}.`;
}

/** Puts it into the browser; false when there is no room. */
export function putLocalCopy(userId: number, workflowId: number, copy: LocalCopy): boolean {
  const put = (each: LocalCopy) =>
    localStorage.setItem(prefixOf(userId, workflowId) + WINDOW, stringifyJson(each));
  try {
    put(copy);
    return true;
  } catch {
    return copy.sent !== null && putLocalCopy(userId, workflowId, { ...copy, sent: null });
  }
}

/** The service has all that this window could lose. */
export function dropLocalCopy(userId: number, workflowId: number): void {
  localStorage.removeItem(prefixOf(userId, workflowId) + WINDOW);
}

/** A copy that was left behind and says something else than what the service has; it is taken out of the browser. */
export function takeLocalCopy(userId: number, workflowId: number, kept: KeptFlow): LocalCopy | null {
  const prefix = prefixOf(userId, workflowId);
  for (const key of Object.keys(localStorage).filter((each) => each.startsWith(prefix))) {
    const copy = readCopy(localStorage.getItem(key) ?? '');
    localStorage.removeItem(key);
    if (copy !== null && !isSame(copy.flow, kept.flow)) return copy;
  }
  return null;
}

/** Whether it was made from what the service has; if not, somebody has gone on elsewhere. */
export function follows(copy: LocalCopy, kept: KeptFlow): boolean {
  return copy.revision === kept.revision || (copy.sent !== null && isSame(copy.sent, kept.flow));
}

function readCopy(text: string): LocalCopy | null {
  try {
    const copy = parseJson(text) as LocalCopy;
    return Array.isArray(copy.flow.nodes) && Array.isArray(copy.flow.edges) ? copy : null;
  } catch {
    return null;
  }
}

/** Whether two flows say the same, however they are written. */
export function isSame(one: Flow, other: Flow): boolean {
  return canonicalJson(one) === canonicalJson(other);
}
