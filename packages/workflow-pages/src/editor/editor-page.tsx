import '@millrace/ui/i18n/parts/workplace.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import { Box, Skeleton, Stack } from '@mantine/core';
import type { Draft, Me, WorkflowDetail } from '@millrace/admin-api';
import { useNodeTypes } from '@millrace/editor/canvas/flow-view.tsx';
import { NewCredential } from '@millrace/editor/form/new-credential.ts';
import { PinSyncContext } from '@millrace/editor/pins/pin-sync.ts';
import { createEditorStore, EditorProvider, type EditorStore } from '@millrace/editor-model/store.ts';
import type { Flow } from '@millrace/engine';
import { ApiProblem, call } from '@millrace/ui/api/client.ts';
import { useMe, useOrg, useRole, useWorkflowId } from '@millrace/ui/api/me.ts';
import { endpointQuery, noteFailure } from '@millrace/ui/api/query.ts';
import { showChangedWorkflow } from '@millrace/ui/api/workflow-cache.ts';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { ErrorState, MissingPage } from '@millrace/ui/components/states.tsx';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { NewCredentialDialog } from '../workflows/new-credential-dialog.tsx';
import { DraftSync, type DraftSyncApi } from './draft/draft-sync.ts';
import { follows, localCopies, putLocalCopy, takeLocalCopy } from './draft/local-copy.ts';
import { EditorFrame } from './editor-frame.tsx';
import { usePins } from './trying/use-pins.ts';
import { useShownSample } from './trying/use-shown-sample.ts';
import { readVersionSearch } from './version-search.ts';
import { useWorkflowTab } from './workflow-tabs.tsx';

const VersionPage = lazyPart(async () => (await import('./versions/version-page.tsx')).VersionPage, Loading);

/** A workflow to view or edit; with a version in the address, that version, read-only. */
export function EditorPage() {
  const id = useWorkflowId() ?? 0;
  const { version } = readVersionSearch(useSearch({ strict: false }));
  const org = useOrg();
  const {
    data: workflow,
    error,
    refetch,
  } = useQuery(endpointQuery('GET /orgs/:org/workflows/:id', { params: { org, id } }));
  if (workflow === undefined && error !== null) {
    if (error instanceof ApiProblem && error.status === 404) return <MissingPage />;
    return <ErrorState error={error} onRetry={() => void refetch()} />;
  }
  if (version === undefined || (version === workflow?.version && !workflow.has_draft)) {
    const isAtVersion = version !== undefined;
    return <Workplace key={`${org} ${id}`} {...{ org, id, workflow, isAtVersion }} />;
  }
  if (workflow === undefined) return <Loading />;
  return <VersionPage org={org} workflow={workflow} version={version} />;
}

/** The editor, once the workflow and its draft have loaded: at a slow connection, one after the other would be seen. */
function Workplace({
  org,
  id,
  workflow,
  isAtVersion,
}: {
  org: number;
  id: number;
  workflow: WorkflowDetail | undefined;
  /** The address names the current version, which will soon be outdated. */
  isAtVersion: boolean;
}) {
  const { can } = useRole();
  const me = useMe();
  const navigate = useNavigate();
  // Refetched on every opening: another tab may have changed it.
  const draft = useQuery({
    ...endpointQuery('GET /orgs/:org/workflows/:id/draft', { params: { org, id } }),
    enabled: can('editor'),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  useEffect(() => {
    if (isAtVersion) void navigate({ to: '.', search: {}, replace: true });
  }, [isAtVersion, navigate]);
  if (workflow === undefined || me === undefined) return <Loading />;
  if (draft.error !== null && draft.data === undefined) {
    return <ErrorState error={draft.error} onRetry={() => void draft.refetch()} />;
  }
  if (can('editor') && draft.data === undefined) return <Loading />;
  return <OpenEditor org={org} workflow={workflow} draft={draft.data?.draft ?? null} me={me} />;
}

function Loading() {
  const { t } = useTranslation();
  return (
    <Stack gap="xs" p="sm" h="100dvh" role="status" aria-label={t('common.loading')}>
      <Skeleton h={32} />
      <Box flex={1}>
        <Skeleton h="100%" />
      </Box>
    </Stack>
  );
}

interface OpenEditorProps {
  org: number;
  workflow: WorkflowDetail;
  draft: Draft | null;
  me: Me;
}

/** Created once per opened workflow: the store of its flow, and what saves its draft. */
function OpenEditor(props: OpenEditorProps) {
  const { workflow } = props;
  const { can } = useRole();
  const queryClient = useQueryClient();
  // Other tabs don't show the draft. What was loaded for it stays.
  const isShown = useWorkflowTab() === 'editor';
  const nodeTypes = useNodeTypes(isShown);
  const [{ store, draftSync, hadLocalCopy }] = useState(() => open(props, queryClient));
  useEffect(() => store.getState().showNodeTypes(nodeTypes), [store, nodeTypes]);
  useShownSample(props.org, workflow.id, store, isShown);
  const pinSync = usePins(
    { org: props.org, workflowId: workflow.id, userId: props.me.user.id },
    store,
    isShown,
  );
  const mayChange = can('editor') && workflow.status !== 'archived';
  useEffect(() => store.getState().allowChanges(mayChange), [store, mayChange]);
  useEffect(() => {
    // Save a restored copy at once, without waiting for another change.
    if (hadLocalCopy) draftSync.changed();
  }, [hadLocalCopy, draftSync]);
  return (
    <EditorProvider store={store}>
      <PinSyncContext value={pinSync}>
        <NewCredential value={NewCredentialDialog}>
          <EditorFrame org={props.org} workflow={workflow} draftSync={draftSync} store={store} />
        </NewCredential>
      </PinSyncContext>
    </EditorProvider>
  );
}

function open(
  { org, workflow, draft, me }: OpenEditorProps,
  queryClient: ReturnType<typeof useQueryClient>,
): { readonly store: EditorStore; readonly draftSync: DraftSync; readonly hadLocalCopy: boolean } {
  const params = { org, id: workflow.id };
  const saved = workflow.flow_data;
  const kept = { flow: (draft?.flow_data as Flow | undefined) ?? saved, revision: draft?.revision ?? 0 };
  const copies = localCopies(me.user.id, workflow.id);
  const copy = takeLocalCopy(copies, kept);
  const store = createEditorStore({ flow: kept.flow });
  const { problems, handles } = draft ?? workflow;
  store.getState().showProblems(problems, handles);
  const isFollowing = copy !== null && follows(copy, kept);
  const draftSync = new DraftSync({
    flow: () => store.getState().toFlow(),
    changeCount: () => store.getState().changeCount,
    initial: {
      status: copy === null ? (draft === null ? 'same' : 'kept') : 'changed',
      keptAt: draft?.updated_at ?? null,
      baseVersion: copy?.baseVersion ?? draft?.base_version ?? workflow.version,
      revision: draft?.revision ?? 0,
      structureErrors: draft?.structure_errors ?? [],
    },
    ...(copy === null || isFollowing ? {} : { initialConflict: { kind: 'draft', draft } as const }),
    api: draftSyncApi(params),
    onChecked: (found) => store.getState().showProblems(found.problems, found.handles),
    onSettled: copies.drop,
    onSaved: (now) => {
      store.getState().showProblems(now.problems, now.handles);
      void showChangedWorkflow(queryClient, params, now);
    },
    onLeft: (left) => putLocalCopy(copies, left),
    onFailed: (left, refusal) => {
      const isSafe = putLocalCopy(copies, left);
      // Don't redirect to the sign-in page while only this window has the changes.
      if (isSafe) noteFailure(queryClient, refusal);
      return isSafe;
    },
  });
  // After `draftSync` was created, so that it treats this as an ordinary change.
  if (copy !== null) store.getState().replaceFlow(copy.flow);
  return { store, draftSync, hadLocalCopy: copy !== null };
}

function draftSyncApi(params: { readonly org: number; readonly id: number }): DraftSyncApi {
  return {
    keep({ flow, baseVersion, revision, isLast }) {
      const body = { flow_data: flow as never, base_version: baseVersion, revision };
      return call('PUT /orgs/:org/workflows/:id/draft', {
        params,
        body,
        ...(isLast ? { keepalive: true } : {}),
      });
    },
    save: ({ flow, baseVersion, revision, message }) =>
      call('POST /orgs/:org/workflows/:id/versions', {
        params,
        body: {
          flow_data: flow as never,
          base_version: baseVersion,
          draft_revision: revision,
          ...(message === '' ? {} : { message }),
        },
      }),
  };
}
