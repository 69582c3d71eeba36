import { ActionIcon, Box, Group, Tabs } from '@mantine/core';
import { type EditorStore, useEditor } from '@millrace/editor-model/store.ts';
import { ApiProblem } from '@millrace/ui/api/client.ts';
import { useRole } from '@millrace/ui/api/me.ts';
import { fillingSkeleton, lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { notifyFailure, notifyWarning } from '@millrace/ui/components/notify.ts';
import { ChevronDown, ChevronUp } from 'lucide-react';
import { useCallback, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useDraftSync } from './editor-context.ts';
import { Splitter, usePanelSize } from './splitter.tsx';
import type { useOpenTab } from './workflow-tabs.tsx';

const ProblemList = lazyPart(async () => (await import('./problem-list.tsx')).ProblemList, fillingSkeleton);
const RunPanel = lazyPart(async () => (await import('./trying/run-panel.tsx')).RunPanel, fillingSkeleton);

type DrawerTab = 'problems' | 'run';
const IN_FLOW = /^\/flow_data(\/|$)/;

/** What the panel below shows, and what leads to it. */
export function useDrawer(store: EditorStore, openTab: ReturnType<typeof useOpenTab>) {
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

/** Problems and runs below the canvas. */
export function BottomDrawer({
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
  const panel = usePanelSize('bottom', { fallback: 300, min: 140, max: 700 });
  const problems = useEditor((state) => state.problems.length);
  const errors = useDraftSync((state) => state.structureErrors.length);
  const count = problems + errors;
  // What an empty canvas lacks is what it asks for.
  const isEmpty = useEditor((state) => state.nodes.length === 0);
  const isOpen = tab !== null;
  return (
    <section className="editor-bottom" aria-label={t('workplace.bottom')}>
      {isOpen && !isNarrow && <Splitter direction="row" label={t('workplace.resizePanel')} {...panel} />}
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
        <Box style={isOpen ? { height: isNarrow ? '70dvh' : panel.size, overflow: 'auto' } : {}}>
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
