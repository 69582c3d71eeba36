import '@millrace/ui/i18n/parts/setting.ts';
import '@millrace/ui/i18n/parts/workplace.ts';
import '@millrace/ui/i18n/parts/versions.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import '../editor.css';
import { Alert, Badge, Button, Group, Modal, Skeleton, Text } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { VersionDetail, WorkflowDetail } from '@millrace/admin-api';
import { useNodeTypes } from '@millrace/editor/canvas/flow-view.tsx';
import { createEditorStore, EditorProvider } from '@millrace/editor-model/store.ts';
import { ApiProblem } from '@millrace/ui/api/client.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { fillingSkeleton, lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { EmptyState, ErrorState } from '@millrace/ui/components/states.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { GitCompare, History } from 'lucide-react';
import { useCallback, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { SideFrame } from '../side-frame.tsx';
import { SideHead } from '../side-head.tsx';
import { ToList } from '../to-list.tsx';
import { FlowDifferenceView } from './flow-difference.tsx';
import { RestoreButton } from './restore-button.tsx';
import { useAuthorName } from './version-author.ts';

const Canvas = lazyPart(
  async () => (await import('@millrace/editor/canvas/canvas.tsx')).Canvas,
  fillingSkeleton,
);
const NodePanel = lazyPart(
  async () => (await import('@millrace/editor/node-panel/node-panel.tsx')).NodePanel,
  fillingSkeleton,
);

interface VersionPageProps {
  org: number;
  workflow: WorkflowDetail;
  version: number;
}

/** A read-only version of a workflow, such as the one an execution ran. */
export function VersionPage({ org, workflow, version }: VersionPageProps) {
  const { t } = useTranslation();
  useDocumentTitle(`${workflow.name} v${version} · Millrace`);
  const { data, error, refetch } = useQuery({
    ...endpointQuery('GET /orgs/:org/workflows/:id/versions/:version', {
      params: { org, id: workflow.id, version },
    }),
    // A version never changes; the workflow says whether it is the current one.
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (error instanceof ApiProblem && error.status === 404) {
    return (
      <EmptyState
        icon={History}
        title={t('versions.missing', { version })}
        action={<ToEditor org={org} workflow={workflow} />}
      >
        {t('versions.missingText', { last: workflow.version })}
      </EmptyState>
    );
  }
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton h="100dvh" />;
  return <Shown key={version} org={org} workflow={workflow} version={data} />;
}

interface ShownProps {
  org: number;
  workflow: WorkflowDetail;
  version: VersionDetail;
}

function Shown({ org, workflow, version }: ShownProps) {
  const nodeTypes = useNodeTypes();
  const [store] = useState(() => {
    const made = createEditorStore({ flow: version.flow_data, isReadOnly: true });
    made.getState().showProblems(version.problems, version.handles);
    return made;
  });
  useEffect(() => store.getState().showNodeTypes(nodeTypes), [store, nodeTypes]);
  const [nodeId, setNodeId] = useState<string | null>(null);
  const onOpenNode = useCallback((id: string | null) => setNodeId(id), []);
  return (
    <EditorProvider store={store}>
      <div className="editor">
        <VersionBar org={org} workflow={workflow} version={version} />
        <About workflow={workflow} version={version} />
        <div className="editor-middle">
          <div className="editor-canvas">
            <Canvas onOpenNode={onOpenNode} />
          </div>
          <SideFrame isOpen={nodeId !== null} onClose={() => setNodeId(null)}>
            {nodeId !== null && (
              <>
                <SideHead nodeId={nodeId} onClose={() => setNodeId(null)} />
                <div className="editor-side-body">
                  <NodePanel nodeId={nodeId} />
                </div>
              </>
            )}
          </SideFrame>
        </div>
      </div>
    </EditorProvider>
  );
}

/** The version's number and actions. */
function VersionBar(props: ShownProps) {
  const { org, workflow, version } = props;
  const { t } = useTranslation();
  return (
    <header className="editor-bar">
      <ToList org={org} />
      <Text component="h1" fw={600} size="sm" truncate m={0} maw={340} title={workflow.name}>
        {workflow.name}
      </Text>
      <Badge color="gray" leftSection={<History size={12} aria-hidden />}>
        {t('versions.version', { version: version.version })}
      </Badge>
      <span className="editor-space" />
      {version.version !== workflow.version && (
        <>
          <Compare {...props} />
          <Restore {...props} />
        </>
      )}
      <ToEditor org={org} workflow={workflow} />
    </header>
  );
}

/** Its author and date, and a note that it is read-only. */
function About({ workflow, version }: Pick<ShownProps, 'workflow' | 'version'>) {
  const { t } = useTranslation();
  const authorName = useAuthorName();
  const isNow = version.version === workflow.version;
  return (
    <Alert py={4} px="sm" radius={0} color={isNow ? 'gray' : 'yellow'} role="status">
      <Group gap="xs">
        <Text size="xs">
          {isNow
            ? t('versions.shownNow', { version: version.version })
            : t('versions.shown', { version: version.version, author: authorName(version.author) })}
        </Text>
        <Text size="xs" component="div">
          <Moment at={version.created_at} />
        </Text>
        {version.message !== null && (
          <Text size="xs" fs="italic" lineClamp={2} title={version.message}>
            {version.message}
          </Text>
        )}
      </Group>
    </Alert>
  );
}

function Compare({ workflow, version }: ShownProps) {
  const { t } = useTranslation();
  const [isOpen, setIsOpen] = useState(false);
  const name = (number: number) => t('versions.version', { version: number });
  return (
    <>
      <Button variant="default" leftSection={<GitCompare size={14} />} onClick={() => setIsOpen(true)}>
        {t('versions.compareNow', { version: workflow.version })}
      </Button>
      <Modal
        opened={isOpen}
        onClose={() => setIsOpen(false)}
        title={t('versions.compareNow', { version: workflow.version })}
        size="90rem"
      >
        {isOpen && (
          <FlowDifferenceView
            before={version.flow_data}
            after={workflow.flow_data}
            labels={[name(version.version), name(workflow.version)]}
          />
        )}
      </Modal>
    </>
  );
}

function Restore({ org, workflow, version: { version } }: ShownProps) {
  const navigate = useNavigate();
  return (
    <RestoreButton
      org={org}
      workflow={workflow}
      version={version}
      baseVersion={() => workflow.version}
      onRestored={() => void navigate({ to: '.', search: {} })}
    />
  );
}

function ToEditor({ org, workflow }: Pick<ShownProps, 'org' | 'workflow'>) {
  const { t } = useTranslation();
  return (
    <Button
      renderRoot={(props) => (
        <Link
          {...props}
          to="/o/$org/workflows/$id"
          params={{ org: String(org), id: String(workflow.id) }}
          search={{}}
        />
      )}
    >
      {workflow.has_draft ? t('versions.toDraft') : t('versions.toEditor')}
    </Button>
  );
}
