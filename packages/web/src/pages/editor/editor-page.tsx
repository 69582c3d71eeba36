import { Box, Skeleton, Stack } from '@mantine/core';
import type { Draft, Me, WorkflowDetail } from '@millrace/admin-api';
import { canonicalJson, type Flow, type JsonValue } from '@millrace/engine';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { useMe, useOrg, useRole } from '../../api/me.ts';
import { endpointKey, endpointQuery } from '../../api/query.ts';
import { useNodeTypes } from '../../canvas/flow-view.tsx';
import { createEditorStore, EditorProvider, type EditorStore } from '../../canvas/store.ts';
import { ErrorState } from '../../ui/states.tsx';
import { DraftKeeper } from './draft/keeper.ts';
import { dropLocalCopy, takeLocalCopy } from './draft/local-copy.ts';
import { EditorFrame } from './editor-frame.tsx';

/** A workflow, to be looked at or to be worked on. */
export function EditorPage() {
  const { id = '' } = useParams({ strict: false }) as { readonly id?: string };
  const org = useOrg();
  const { can } = useRole();
  const me = useMe();
  const params = { org, id: Number(id) };
  const workflow = useQuery(endpointQuery('GET /orgs/:org/workflows/:id', { params }));
  // Read anew at each opening: another tab may have gone on with it.
  const draft = useQuery({
    ...endpointQuery('GET /orgs/:org/workflows/:id/draft', { params }),
    enabled: can('editor'),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const error = workflow.error ?? draft.error;
  if (error !== null && workflow.data === undefined) {
    return <ErrorState error={error} onRetry={() => void workflow.refetch()} />;
  }
  const isWaiting = can('editor') && draft.data === undefined;
  if (workflow.data === undefined || isWaiting || me === undefined) return <Loading />;
  return (
    <OpenEditor
      key={`${org} ${id}`}
      org={org}
      workflow={workflow.data}
      draft={draft.data?.draft ?? null}
      me={me}
    />
  );
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
  readonly org: number;
  readonly workflow: WorkflowDetail;
  readonly draft: Draft | null;
  readonly me: Me;
}

/** What is made once when a workflow is opened: the store of its flow, and the keeper of its draft. */
function OpenEditor(props: OpenEditorProps) {
  const { workflow } = props;
  const { can } = useRole();
  const queryClient = useQueryClient();
  const nodeTypes = useNodeTypes();
  const [{ store, keeper, hadLocalCopy }] = useState(() => open(props, queryClient));
  const sample = useQuery(
    endpointQuery('GET /orgs/:org/workflows/:id/sample', { params: { org: props.org, id: workflow.id } }),
  );
  useEffect(() => store.getState().showNodeTypes(nodeTypes), [store, nodeTypes]);
  useEffect(() => store.getState().showSample(sample.data?.sample?.data ?? null), [store, sample.data]);
  const mayChange = can('editor') && workflow.status !== 'archived';
  useEffect(() => store.getState().allowChanges(mayChange), [store, mayChange]);
  useEffect(() => {
    // What was left behind is kept at once, and not only when something changes again.
    if (hadLocalCopy) keeper.changed();
  }, [hadLocalCopy, keeper]);
  return (
    <EditorProvider store={store}>
      <EditorFrame org={props.org} workflow={workflow} keeper={keeper} store={store} />
    </EditorProvider>
  );
}

function open(
  { org, workflow, draft, me }: OpenEditorProps,
  queryClient: ReturnType<typeof useQueryClient>,
): { readonly store: EditorStore; readonly keeper: DraftKeeper; readonly hadLocalCopy: boolean } {
  const params = { org, id: workflow.id };
  const copy = takeLocalCopy(me.user.id, workflow.id, draft?.revision ?? 0);
  const kept = (draft?.flow_data ?? workflow.flow_data) as unknown as Flow;
  const store = createEditorStore({ flow: kept });
  const { problems, handles } = draft ?? workflow;
  store.getState().showProblems(problems, handles);
  const keeper = new DraftKeeper({
    flow: () => store.getState().toFlow(),
    changeCount: () => store.getState().changeCount,
    initial: {
      status: draft === null ? 'same' : 'kept',
      keptAt: draft?.updated_at ?? null,
      baseVersion: draft?.base_version ?? workflow.version,
      revision: draft?.revision ?? 0,
      structureErrors: draft?.structure_errors ?? [],
    },
    api: {
      keep: ({ flow, baseVersion, revision, isLast }) =>
        call('PUT /orgs/:org/workflows/:id/draft', {
          params,
          body: { flow_data: flow as never, base_version: baseVersion, revision },
          ...(isLast ? { keepalive: true } : {}),
        }),
      save: ({ flow, baseVersion, message }) =>
        call('POST /orgs/:org/workflows/:id/versions', {
          params,
          body: {
            flow_data: flow as never,
            base_version: baseVersion,
            ...(message === '' ? {} : { message }),
          },
        }),
    },
    onChecked: (found) => {
      dropLocalCopy(me.user.id, workflow.id);
      store.getState().showProblems(found.problems, found.handles);
    },
    onSaved: (saved) => {
      dropLocalCopy(me.user.id, workflow.id);
      store.getState().showProblems(saved.problems, saved.handles);
      queryClient.setQueryData(endpointKey('GET /orgs/:org/workflows/:id', { params }), saved);
      void queryClient.invalidateQueries({
        queryKey: endpointKey('GET /orgs/:org/workflows/:id/versions', { params }),
      });
    },
  });
  const text = (flow: Flow) => canonicalJson(flow as unknown as JsonValue);
  const hadLocalCopy = copy !== null && text(copy.flow) !== text(kept);
  if (hadLocalCopy) store.getState().replaceFlow(copy.flow);
  return { store, keeper, hadLocalCopy };
}
