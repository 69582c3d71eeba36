import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import './editor.css';
import { ActionIcon, Box, Group, Tabs } from '@mantine/core';
import { type HotkeyItem, useDocumentTitle, useHotkeys, useMediaQuery } from '@mantine/hooks';
import type { WorkflowDetail } from '@millrace/admin-api';
import { RunLines } from '@millrace/editor/canvas/run-lines.ts';
import { SaveFlow } from '@millrace/editor/form/save-flow.ts';
import { type EditorStore, useEditor, useEditorStore } from '@millrace/editor-model/store.ts';
import { ApiProblem } from '@millrace/ui/api/client.ts';
import { useRole } from '@millrace/ui/api/me.ts';
import { fillingSkeleton, lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { loadInReserve } from '@millrace/ui/components/load-in-reserve.ts';
import { notifyFailure, notifyWarning } from '@millrace/ui/components/notify.ts';
import { ChevronDown, ChevronUp, Copy, Trash2 } from 'lucide-react';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useStore } from 'zustand';
import { DraftFailure } from './draft/draft-failure.tsx';
import type { DraftSync } from './draft/draft-sync.ts';
import { EditorCommandSource } from './editor-command-source.tsx';
import { EditorContext, type EditorContextValue, useDraftSync } from './editor-context.ts';
import { SideFrame } from './side-frame.tsx';
import { SideHead } from './side-head.tsx';
import { Splitter, usePanelSize } from './splitter.tsx';
import { TabContent } from './tab-content.tsx';
import { TopBar } from './top-bar.tsx';
import { useRunForm } from './trying/use-run-form.ts';
import { useChosenExecution } from './trying/use-shown-sample.ts';
import { useTrial } from './trying/use-trial.ts';
import { useWatch } from './trying/use-watch.ts';
import { useOpenTab, useWorkflowTab, WorkflowTabs } from './workflow-tabs.tsx';

const Canvas = lazyPart(
  async () => (await import('@millrace/editor/canvas/canvas.tsx')).Canvas,
  fillingSkeleton,
);
const NodePanel = lazyPart(
  async () => (await import('@millrace/editor/node-panel/node-panel.tsx')).NodePanel,
  fillingSkeleton,
);
const loadNodeRuns = () => import('./trying/node-run-menu.tsx');
const NodeRunMenu = lazyPart(async () => (await loadNodeRuns()).NodeRunMenu);
const NodeRunLines = lazyPart(async () => (await loadNodeRuns()).NodeRunLines);
const ProblemList = lazyPart(async () => (await import('./problem-list.tsx')).ProblemList, fillingSkeleton);
const EditorExtras = lazyPart(async () => (await import('./editor-extras.tsx')).EditorExtras);
const RunPanel = lazyPart(async () => (await import('./trying/run-panel.tsx')).RunPanel, fillingSkeleton);

/** The content of the side panel. */
type Side = {
  readonly kind: 'node';
  readonly nodeId: string;
  /** Just added: its first empty field takes the focus. */
  readonly isNew?: boolean;
  /** Counts how often its help was asked for: each time it is shown again. */
  readonly helpAsked?: number;
} | null;
type DrawerTab = 'problems' | 'run';
const IN_FLOW = /^\/flow_data(\/|$)/;

/** The help of the selected node, or else of the open one. */
function withHelp(open: Side, store: EditorStore): Side {
  const { nodes, selectedIds } = store.getState();
  const chosen = nodes.find(({ id }) => selectedIds.includes(id));
  const nodeId = chosen?.id ?? (open?.kind === 'node' ? open.nodeId : null);
  if (nodeId === null) return open;
  const asked = open?.kind === 'node' && open.nodeId === nodeId ? (open.helpAsked ?? 0) : 0;
  return { kind: 'node', nodeId, helpAsked: asked + 1 };
}

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
  const [side, setSide] = useState<Side>(null);
  const [focus, setFocus] = useState<{ readonly nodeId: string } | null>(null);
  const shownTab = useWorkflowTab();
  const openTab = useOpenTab(org, workflow.id);
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
      setSide({ kind: 'node', nodeId });
      setFocus({ nodeId });
    },
    [openTab, store],
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
  const onOpenNode = useCallback(
    (nodeId: string | null, { isNew = false } = {}) =>
      setSide(nodeId === null ? null : { kind: 'node', nodeId, isNew }),
    [],
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
  const [isWide, setIsWide] = useState(false);
  const widen = useCallback(() => setIsWide((was) => !was), []);
  const hotkeys: HotkeyItem[] = [['mod+Enter', () => !isReadOnly && run()]];
  if (shownTab === 'editor') {
    if (side !== null) hotkeys.push(['F2', widen]);
    hotkeys.push(['F1', () => setSide((open) => withHelp(open, store))]);
  }
  useHotkeys(hotkeys, [], true);
  // The palette, which is on the canvas, needs its room.
  const isReplacing = useEditor((state) => state.replacedTrigger !== null);
  const sideContent = (
    <SideContent side={side} isWide={isWide} onWiden={widen} onClose={() => setSide(null)} />
  );
  const isThere = useEditor(({ nodes }) =>
    side?.kind === 'node' ? nodes.some(({ id }) => id === side.nodeId) : side !== null,
  );
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
                    <Canvas onOpenNode={onOpenNode} onWidenNode={widen} focus={focus} />
                  </RunLines>
                </div>
                <SideFrame
                  isOpen={isThere && !(isNarrow && isReplacing)}
                  isWide={isWide && !isReplacing}
                  onClose={() => setSide(null)}
                >
                  {sideContent}
                </SideFrame>
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

/** What the panel below shows, and what leads to it. */
function useDrawer(store: EditorStore, openTab: ReturnType<typeof useOpenTab>) {
  const { t } = useTranslation();
  const [tab, setTab] = useState<DrawerTab | null>(null);
  const showRun = useCallback(() => {
    openTab('editor');
    setTab('run');
  }, [openTab]);
  const showProblems = useCallback(() => {
    openTab('editor');
    setTab('problems');
    notifyWarning(t('workplace.fixProblems'));
  }, [openTab, t]);
  const showRefusal = useCallback(
    (error: Error) => {
      const isFlow = error instanceof ApiProblem && error.errors.some(({ pointer }) => IN_FLOW.test(pointer));
      if (!isFlow || store.getState().problems.length === 0) return notifyFailure(error);
      showProblems();
    },
    [store, showProblems],
  );
  return { tab, setTab, showRun, showProblems, showRefusal };
}

function useHasExtras(workflow: WorkflowDetail, draftSync: DraftSync): boolean {
  const hasOffer = useEditor((state) => state.offeredCredential !== null);
  const isOutdated = useStore(draftSync.state, (state) => workflow.version > state.baseVersion);
  return hasOffer || isOutdated || workflow.status === 'archived' || workflow.other_drafts.length > 0;
}

function SideContent({
  side,
  ...head
}: {
  side: Side;
  isWide: boolean;
  onWiden: () => void;
  onClose: () => void;
}) {
  if (side === null) return null;
  return (
    <>
      <SideHead nodeId={side.nodeId} {...head}>
        <NodeActions nodeId={side.nodeId} />
      </SideHead>
      <div className="editor-side-body">
        <NodePanel nodeId={side.nodeId} takesFocus={side.isNew === true} helpAsked={side.helpAsked ?? 0} />
      </div>
    </>
  );
}

/** Actions on the open node. */
function NodeActions({ nodeId }: { nodeId: string }) {
  const { t } = useTranslation();
  const store = useEditorStore();
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const actions = [
    { icon: Copy, label: t('editor.keys.duplicate'), act: (id: string) => store.getState().duplicate([id]) },
    { icon: Trash2, label: t('common.delete'), act: (id: string) => store.getState().remove([id]) },
  ];
  if (isReadOnly) return null;
  const buttons = actions.map(({ icon: Icon, label, act }) => (
    <IconButton key={label} icon={Icon} label={label} size="sm" onClick={() => act(nodeId)} />
  ));
  return (
    <>
      <NodeRunMenu nodeId={nodeId} />
      {buttons}
    </>
  );
}

function BottomDrawer({
  tab,
  onTab,
  isNarrow,
}: {
  tab: DrawerTab | null;
  onTab: (tab: DrawerTab | null) => void;
  isNarrow: boolean;
}) {
  const { t } = useTranslation();
  const { can } = useRole();
  const [height, setHeight] = usePanelSize('bottom', 300, 140, 700);
  const problems = useEditor((state) => state.problems.length);
  const errors = useDraftSync((state) => state.structureErrors.length);
  const count = problems + errors;
  // What an empty canvas lacks is what it asks for.
  const isEmpty = useEditor((state) => state.nodes.length === 0);
  const isOpen = tab !== null;
  return (
    <section className="editor-bottom" aria-label={t('workplace.bottom')}>
      {isOpen && !isNarrow && (
        <Splitter
          direction="row"
          label={t('workplace.resizePanel')}
          size={height}
          min={140}
          max={700}
          onResize={setHeight}
        />
      )}
      <Tabs
        value={tab}
        onChange={(next) => onTab(next as DrawerTab)}
        allowTabDeactivation
        keepMounted={false}
        className="editor-tabs"
      >
        <Group justify="space-between" wrap="nowrap" gap={0}>
          <Tabs.List className="editor-tab-list">
            <Tabs.Tab value="problems" size="xs">
              {isEmpty
                ? t('workplace.problems')
                : count === 0
                  ? t('workplace.noProblems')
                  : t('editor.problemCount', { count })}
            </Tabs.Tab>
            {can('editor') && (
              <Tabs.Tab value="run" size="xs">
                {t('workplace.trying.title')}
              </Tabs.Tab>
            )}
          </Tabs.List>
          <ActionIcon
            size="sm"
            mr="xs"
            aria-label={isOpen ? t('workplace.closeBottom') : t('workplace.openBottom')}
            aria-expanded={isOpen}
            onClick={() => onTab(isOpen ? null : 'problems')}
          >
            {isOpen ? <ChevronDown size={16} /> : <ChevronUp size={16} />}
          </ActionIcon>
        </Group>
        <Box style={isOpen ? { height: isNarrow ? '70dvh' : height, overflow: 'auto' } : {}}>
          <Tabs.Panel value="problems" h="100%">
            <ProblemList />
          </Tabs.Panel>
          <Tabs.Panel value="run" h="100%">
            <RunPanel />
          </Tabs.Panel>
        </Box>
      </Tabs>
    </section>
  );
}
