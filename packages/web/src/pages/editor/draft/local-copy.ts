import { canonicalJson, type Flow } from '@millrace/engine';
import { type WindowStore, windowStore } from './window-store.ts';

/** What was on the canvas when the page went away before the service had confirmed it. */
export type LocalCopy = {
  readonly flow: Flow;
  readonly baseVersion: number;
  /** Of the draft that it follows; 0: there was none. */
  readonly revision: number;
  /** The draft that was on its way: the service may have it, under a revision that isn't known here. */
  readonly sent: Flow | null;
};

/** What the service has: a draft, or none (revision 0) and the saved version. */
export interface KeptFlow {
  readonly flow: Flow;
  readonly revision: number;
}

/** The copies that somebody's windows left of a workflow. */
export function localCopies(userId: number, workflowId: number): WindowStore<LocalCopy> {
  return windowStore('unkept', userId, workflowId, (value) => {
    const copy = value as LocalCopy;
    return Array.isArray(copy.flow.nodes) && Array.isArray(copy.flow.edges) ? copy : null;
  });
}

/** Puts it into the browser; false when there is no room, not even without what was on its way. */
export function putLocalCopy(copies: WindowStore<LocalCopy>, copy: LocalCopy): boolean {
  return copies.put(copy) || (copy.sent !== null && copies.put({ ...copy, sent: null }));
}

/** A copy that was left behind and says something else than what the service has. */
export function takeLocalCopy(copies: WindowStore<LocalCopy>, kept: KeptFlow): LocalCopy | null {
  for (const copy of copies.take()) if (!isSame(copy.flow, kept.flow)) return copy;
  return null;
}

/** Whether it was made from what the service has; if not, somebody has gone on elsewhere. */
export function follows(copy: LocalCopy, kept: KeptFlow): boolean {
  return copy.revision === kept.revision || (copy.sent !== null && isSame(copy.sent, kept.flow));
}

/** Whether two flows say the same, however they are written. */
export function isSame(one: Flow, other: Flow): boolean {
  return canonicalJson(one) === canonicalJson(other);
}
