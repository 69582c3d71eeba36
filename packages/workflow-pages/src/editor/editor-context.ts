import type { WorkflowDetail } from '@millrace/admin-api';
import { pick } from '@millrace/editor-model/store.ts';
import { createContext, useContext } from 'react';
import { useStore } from 'zustand';
import { useShallow } from 'zustand/shallow';
import type { DraftSync, DraftSyncState } from './draft/draft-sync.ts';
import type { RunForm } from './trying/use-run-form.ts';
import type { Trial } from './trying/use-trial.ts';
import type { Watch } from './trying/use-watch.ts';

/** The editor page's shared state besides the flow's store. */
export interface EditorContextValue {
  readonly org: number;
  /** As last received from the service. */
  readonly workflow: WorkflowDetail;
  readonly draftSync: DraftSync;
  readonly trial: Trial;
  /** The input of the next run. */
  readonly runForm: RunForm;
  readonly watch: Watch;
  /** Saves what is on the canvas, if it differs from the saved version; false if there is a conflict, which the page shows. */
  readonly save: () => Promise<boolean>;
  /** Opens the panel of runs. */
  readonly showRun: () => void;
  /** Opens the list of problems, as the reason why something isn't possible yet. */
  readonly showProblems: () => void;
  /** Opens a node in the panel and shows it on the canvas. */
  readonly openNode: (nodeId: string) => void;
  /** Says why an action was refused; if because of the flow's problems, by opening their list. */
  readonly showRefusal: (error: Error) => void;
}

export const EditorContext = createContext<EditorContextValue | null>(null);

export function useEditorPage(): EditorContextValue {
  const value = useContext(EditorContext);
  if (value === null) throw new Error('this belongs below the page of the editor');
  return value;
}

export function useDraftSync<Part>(selector: (state: DraftSyncState) => Part): Part {
  return useStore(useEditorPage().draftSync.state, selector);
}

export function useDraftSyncState<Name extends keyof DraftSyncState>(
  ...names: Name[]
): Pick<DraftSyncState, Name> {
  return useDraftSync(useShallow((state) => pick(state, names)));
}
