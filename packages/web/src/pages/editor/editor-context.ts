import type { WorkflowDetail } from '@millrace/admin-api';
import { pick } from '@millrace/editor/model/store.ts';
import { createContext, useContext } from 'react';
import { useStore } from 'zustand';
import { useShallow } from 'zustand/shallow';
import type { DraftKeeper, KeeperState } from './draft/keeper.ts';
import type { RunForm } from './trying/use-run-form.ts';
import type { Trial } from './trying/use-trial.ts';

/** The editor page's shared state besides the flow's store. */
export interface EditorContextValue {
  readonly org: number;
  /** As last received from the service. */
  readonly workflow: WorkflowDetail;
  readonly keeper: DraftKeeper;
  readonly trial: Trial;
  /** The input of the next run. */
  readonly runForm: RunForm;
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

export function useKeeper<Part>(selector: (state: KeeperState) => Part): Part {
  return useStore(useEditorPage().keeper.state, selector);
}

export function useKeeperState<Name extends keyof KeeperState>(...names: Name[]): Pick<KeeperState, Name> {
  return useKeeper(useShallow((state) => pick(state, names)));
}
