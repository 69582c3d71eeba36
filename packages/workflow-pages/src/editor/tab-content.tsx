import { fillingSkeleton, lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { useEditorPage } from './editor-context.ts';

/** What each tab beside the editor is made of: none needs what the others are made of. */
const LOADERS = {
  executions: () => import('@millrace/execution-pages/list/executions-page.tsx'),
  versions: () => import('./versions-tab.tsx'),
  settings: () => import('./settings-tab.tsx'),
};

/** Loads a tab that is about to be opened; a failure is reported when it is. */
export function prepareTab(tab: 'editor' | keyof typeof LOADERS): void {
  if (tab !== 'editor') void LOADERS[tab]().catch(() => undefined);
}

const Executions = lazyPart(async () => (await LOADERS.executions()).ExecutionsPage, fillingSkeleton);
const Versions = lazyPart(async () => (await LOADERS.versions()).VersionsTab, fillingSkeleton);
const Settings = lazyPart(async () => (await LOADERS.settings()).SettingsTab, fillingSkeleton);

/** The tabs of a workflow beside the editor. */
export function TabContent({
  tab,
  onEditor,
}: {
  tab: keyof typeof LOADERS;
  /** Back to the editor. */
  onEditor: () => void;
}) {
  const { workflow } = useEditorPage();
  switch (tab) {
    case 'executions':
      return <Executions workflowId={workflow.id} />;
    case 'versions':
      return <Versions onEditor={onEditor} />;
    case 'settings':
      return <Settings />;
  }
}
