import { Button, FileButton, Group, Menu, Text, TextInput } from '@mantine/core';
import { type JsonObject, parseJson } from '@millrace/engine';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { ChevronDown, FileJson, FileUp, LayoutTemplate, Plus } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { useOrg } from '../../api/me.ts';
import { endpointQuery } from '../../api/query.ts';
import { Code } from '../../ui/code.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { notifyDone, notifyFailure } from '../../ui/notify.ts';

type Dialog = 'empty' | 'import' | null;

/** A new workflow: an empty one, from a template, or from an export. */
export function NewWorkflowMenu() {
  const { t } = useTranslation();
  const org = String(useOrg());
  const [dialog, setDialog] = useState<Dialog>(null);
  const close = () => setDialog(null);
  return (
    <>
      <Button.Group>
        <Button leftSection={<Plus size={14} />} onClick={() => setDialog('empty')}>
          {t('workflows.new')}
        </Button>
        <Menu position="bottom-end">
          <Menu.Target>
            <Button px={6} aria-label={t('workflows.moreWays')}>
              <ChevronDown size={14} />
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item component={Link} to={`/o/${org}/templates`} leftSection={<LayoutTemplate size={14} />}>
              {t('workflows.fromTemplate')}
            </Menu.Item>
            <Menu.Item leftSection={<FileJson size={14} />} onClick={() => setDialog('import')}>
              {t('workflows.import')}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </Button.Group>
      {dialog === 'empty' && <EmptyDialog onClose={close} />}
      {dialog === 'import' && <ImportDialog onClose={close} />}
    </>
  );
}

type NewWorkflow = Parameters<typeof call<'POST /orgs/:org/workflows'>>[1]['body'];

/** Creates a workflow and opens it in the editor. */
export function useCreateWorkflow() {
  const { t } = useTranslation();
  const org = useOrg();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (body: NewWorkflow) => call('POST /orgs/:org/workflows', { params: { org }, body }),
    onSuccess: async ({ workflow, companions }) => {
      const others = companions.map(({ name }) => name).join(', ');
      notifyDone(
        others === ''
          ? t('workflows.created', { name: workflow.name })
          : t('workflows.createdWith', { name: workflow.name, others }),
      );
      await queryClient.invalidateQueries({ queryKey: ['GET /orgs/:org/workflows'] });
      await navigate({ to: `/o/${org}/workflows/${workflow.id}` });
    },
    onError: notifyFailure,
  });
}

/** Something to begin with: a flow that can be started at once. */
const FIRST_FLOW = {
  nodes: [{ id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 }, data: {} }],
  edges: [],
};

function EmptyDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation();
  const [name, setName] = useState('');
  const create = useCreateWorkflow();
  const { data: defaults } = useQuery(
    endpointQuery('GET /orgs/:org/defaults', { params: { org: useOrg() } }),
  );
  const zone = defaults?.time_zone ?? null;
  const flow = zone === null ? FIRST_FLOW : { ...FIRST_FLOW, settings: { timezone: zone } };
  return (
    <FormDialog
      isOpen
      title={t('workflows.new')}
      action={t('workflows.create')}
      isReady={name.trim() !== ''}
      isBusy={create.isPending}
      onSubmit={() => create.mutate({ name, flow_data: flow })}
      onClose={onClose}
    >
      <TextInput
        data-autofocus
        label={t('workflows.name')}
        placeholder={t('workflows.nameHint')}
        value={name}
        maxLength={255}
        required
        onChange={(event) => setName(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

function ImportDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation();
  const [text, setText] = useState('');
  const create = useCreateWorkflow();
  const workflow = readWorkflow(text);
  return (
    <FormDialog
      isOpen
      title={t('workflows.import')}
      action={t('workflows.importAction')}
      size="lg"
      isReady={workflow !== null}
      isBusy={create.isPending}
      onSubmit={() => workflow !== null && create.mutate(workflow)}
      onClose={onClose}
    >
      <Text size="sm" c="dimmed">
        {t('workflows.importHint')}
      </Text>
      <Group>
        <FileButton
          accept="application/json,.json"
          onChange={async (file) => file !== null && setText(await file.text())}
        >
          {(props) => (
            <Button {...props} variant="default" leftSection={<FileUp size={14} />}>
              {t('workflows.chooseFile')}
            </Button>
          )}
        </FileButton>
      </Group>
      <Code value={text} onChange={setText} language="json" label={t('workflows.pasteHere')} />
      {text.trim() !== '' && workflow === null && (
        <Text size="xs" c="red" role="alert">
          {t('workflows.importIsNoWorkflow')}
        </Text>
      )}
    </FormDialog>
  );
}

/** An export, or a bare flow; null: it is neither. What is wrong inside of it the service tells. */
function readWorkflow(text: string): NewWorkflow | null {
  try {
    const value = parseJson(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    const object = value as JsonObject;
    if ('flow_data' in object) return object as NewWorkflow;
    return 'nodes' in object && 'edges' in object ? { name: 'Imported workflow', flow_data: object } : null;
  } catch {
    return null;
  }
}
