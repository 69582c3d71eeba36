import { canonicalJson, type Flow } from '@millrace/engine';
import { type WindowStore, windowStore } from './window-store.ts';

/** The canvas as it was when the page was unloaded before the service confirmed it. */
export type LocalCopy = {
  readonly flow: Flow;
  readonly baseVersion: number;
  /** Revision of the draft it is based on; 0: there was none. */
  readonly revision: number;
  /** The draft in flight: the service may have stored it under an unknown revision. */
  readonly sent: Flow | null;
};

/** The service's state: a draft, or the saved version and no draft (revision 0). */
export interface KeptFlow {
  readonly flow: Flow;
  readonly revision: number;
}

/** Copies of a workflow left by a user's windows. */
export function localCopies(userId: number, workflowId: number): WindowStore<LocalCopy> {
  return windowStore('unkept', userId, workflowId, (value) => {
    const copy = value as LocalCopy;
    return Array.isArray(copy.flow.nodes) && Array.isArray(copy.flow.edges) ? copy : null;
  });
}

/** Stores the copy in the browser; false if there is no room even without the draft in flight. */
export function putLocalCopy(copies: WindowStore<LocalCopy>, copy: LocalCopy): boolean {
  return copies.put(copy) || (copy.sent !== null && copies.put({ ...copy, sent: null }));
}

/** A stored copy that differs from the service's state. */
export function takeLocalCopy(copies: WindowStore<LocalCopy>, kept: KeptFlow): LocalCopy | null {
  for (const copy of copies.take()) if (!isSame(copy.flow, kept.flow)) return copy;
  return null;
}

/** Whether the copy is based on the service's state; if not, someone has saved elsewhere. */
export function follows(copy: LocalCopy, kept: KeptFlow): boolean {
  return copy.revision === kept.revision || (copy.sent !== null && isSame(copy.sent, kept.flow));
}

/** Whether two flows are equal regardless of member order. */
export function isSame(one: Flow, other: Flow): boolean {
  return canonicalJson(one) === canonicalJson(other);
}
