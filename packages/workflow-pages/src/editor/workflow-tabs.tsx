import { Link, useLocation, useRouter } from '@tanstack/react-router';
import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import { useEditorPage } from './editor-context.ts';
import { prepareTab } from './tab-content.tsx';

const TABS = ['editor', 'executions', 'versions', 'settings'] as const;
export type WorkflowTab = (typeof TABS)[number];

/** The tab in the address: `/o/1/workflows/2/versions`; none is the editor. */
export function useWorkflowTab(): WorkflowTab {
  const name = useLocation().pathname.split('/')[5];
  return TABS.find((tab) => tab === name) ?? 'editor';
}

const pathOf = (org: number, id: number, tab: WorkflowTab) =>
  `/o/${org}/workflows/${id}${tab === 'editor' ? '' : `/${tab}`}`;

/** The execution whose data is worked with stays in the address. */
const keepExecution = ({ execution }: { readonly execution?: number }) =>
  execution === undefined ? {} : { execution };

/** Opens a tab of a workflow; what is on the canvas stays. */
export function useOpenTab(org: number, id: number): (tab: WorkflowTab) => void {
  const router = useRouter();
  return useCallback(
    (tab) => {
      const to = pathOf(org, id, tab);
      if (router.state.location.pathname !== to) void router.navigate({ to, search: keepExecution });
    },
    [router, org, id],
  );
}

/** The parts of a workflow, each with an address of its own. */
export function WorkflowTabs() {
  const { t } = useTranslation();
  const { org, workflow } = useEditorPage();
  return (
    <nav className="editor-tab-links" aria-label={t('workplace.tabs.label')}>
      {TABS.map((tab) => (
        <Link
          key={tab}
          to={pathOf(org, workflow.id, tab)}
          search={keepExecution}
          activeOptions={{ exact: true, includeSearch: false }}
          onMouseEnter={() => prepareTab(tab)}
          onFocus={() => prepareTab(tab)}
        >
          {t(`workplace.tabs.${tab}`)}
        </Link>
      ))}
    </nav>
  );
}
