import './editor.css';
import { useDocumentTitle, useHotkeys, useMediaQuery } from '@mantine/hooks';
import type { WorkflowDetail } from '@millrace/admin-api';
import { RunLines } from '@millrace/editor/canvas/run-lines.ts';
import { SaveFlow } from '@millrace/editor/form/save-flow.ts';
import { type EditorStore, useEditor } from '@millrace/editor-model/store.ts';
import { fillingSkeleton, lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { loadInReserve } from '@millrace/ui/components/load-in-reserve.ts';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useStore } from 'zustand';
import { BottomDrawer, useDrawer } from './bottom-drawer.tsx';
import { DraftFailure } from './draft/draft-failure.tsx';
import type { DraftSync } from './draft/draft-sync.ts';
import { EditorCommandSource } from './editor-command-source.tsx';
import { EditorContext, type EditorContextValue } from './editor-context.ts';
import { SidePanel, useSidePanel } from './side-panel.tsx';
import { TabContent } from './tab-content.tsx';
import { TopBar } from './top-bar.tsx';
import { loadNodeRuns, NodeRunLines } from './trying/node-runs.ts';
import { useRunForm } from './trying/use-run-form.ts';
import { useChosenExecution } from './trying/use-shown-sample.ts';
import { useTrial } from './trying/use-trial.ts';
import { useWatch } from './trying/use-watch.ts';
import { useOpenTab, useWorkflowTab, WorkflowTabs } from './workflow-tabs.tsx';

const Canvas = lazyPart(
  async () => (await import('@millrace/editor/canvas/canvas.tsx')).Canvas,
  fillingSkeleton,
);
const EditorExtras = lazyPart(async () => (await import('./editor-extras.tsx')).EditorExtras);

/** The editor page: top bar, canvas, side panel, and problems and runs below. */
export function EditorFrame({
  org,
  workflow,
  draftSync,
  store,
}: {
  org: number;
  workflow: WorkflowDetail;
  draftSync: DraftSync;
  store: EditorStore;
}) {
  const { t } = useTranslation();
  const isNarrow = useMediaQuery('(max-width: 48em)') ?? false;
  const [focus, setFocus] = useState<{ readonly nodeId: string } | null>(null);
  const shownTab = useWorkflowTab();
  const openTab = useOpenTab(org, workflow.id);
  const panel = useSidePanel(store, shownTab === 'editor');
  const { open: openPanel } = panel;
  const place = shownTab === 'editor' ? '' : `${t(`workplace.tabs.${shownTab}`)} · `;
  useDocumentTitle(`${place}${workflow.name} · Millrace`);
  const { tab, setTab, showRun, showProblems, showRefusal } = useDrawer(store, openTab);
  const trial = useTrial({ org, workflowId: workflow.id, onRefused: showRefusal }, store);
  const runForm = useRunForm({ org, workflow }, draftSync, trial);
  const execution = useChosenExecution();
  const watch = useWatch({ org, workflowId: workflow.id }, trial);
  const save = useCallback(async () => {
    if (draftSync.state.getState().status === 'same') return true;
    return draftSync.save('');
  }, [draftSync]);
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const hasExtras = useHasExtras(workflow, draftSync) || execution !== null;
  const openNode = useCallback(
    (nodeId: string) => {
      openTab('editor');
      store.getState().select([nodeId]);
      openPanel(nodeId);
      setFocus({ nodeId });
    },
    [openTab, openPanel, store],
  );
  const context = useMemo<EditorContextValue>(
    () => ({
      org,
      workflow,
      draftSync,
      trial,
      runForm,
      watch,
      save,
      openNode,
      showRun,
      showProblems,
      showRefusal,
    }),
    [org, workflow, draftSync, trial, runForm, watch, save, openNode, showRun, showProblems, showRefusal],
  );
  // With the last input, or none: the panel below shows the input and the run.
  const run = () => {
    showRun();
    void runForm.start();
  };
  // A menu of a node has all its lines when it opens.
  useEffect(
    () => (isReadOnly || shownTab !== 'editor' ? undefined : loadInReserve(loadNodeRuns)),
    [isReadOnly, shownTab],
  );
  const showSettings = () => openTab('settings');
  useHotkeys([['mod+Enter', () => !isReadOnly && run()]], [], true);
  return (
    <EditorContext value={context}>
      <SaveFlow value={save}>
        <div className="editor">
          <EditorCommandSource onRun={run} onSettings={showSettings} />
          <TopBar onRun={run} onSettings={showSettings} />
          <WorkflowTabs />
          {hasExtras && <EditorExtras execution={execution} />}
          <DraftFailure />
          {shownTab === 'editor' ? (
            <>
              <div className="editor-middle">
                <div className="editor-canvas">
                  <RunLines value={NodeRunLines}>
                    <Canvas onOpenNode={panel.open} onWidenNode={panel.widen} focus={focus} />
                  </RunLines>
                </div>
                <SidePanel panel={panel} isNarrow={isNarrow} />
              </div>
              <BottomDrawer tab={tab} onTab={setTab} isNarrow={isNarrow} />
            </>
          ) : (
            <div className="editor-tab-content">
              <TabContent tab={shownTab} onEditor={() => openTab('editor')} />
            </div>
          )}
        </div>
      </SaveFlow>
    </EditorContext>
  );
}

function useHasExtras(workflow: WorkflowDetail, draftSync: DraftSync): boolean {
  const hasOffer = useEditor((state) => state.offeredCredential !== null);
  const isOutdated = useStore(draftSync.state, (state) => workflow.version > state.baseVersion);
  return hasOffer || isOutdated || workflow.status === 'archived' || workflow.other_drafts.length > 0;
}
