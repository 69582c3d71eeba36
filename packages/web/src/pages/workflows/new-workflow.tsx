import { Button, Menu } from '@mantine/core';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ChevronDown, FileJson, LayoutTemplate, Plus } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useCreateWorkflow } from './create-workflow.ts';
import { ImportDialog } from './import-dialog.tsx';
import { NameField } from './name-field.tsx';

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

/** Something to begin with: a flow that can be started at once. */
const FIRST_FLOW = {
  nodes: [{ id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 }, data: {} }],
  edges: [],
};

function EmptyDialog({ onClose }: { onClose: () => void }) {
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
      title={t('workflows.new')}
      action={t('workflows.create')}
      isReady={name.trim() !== ''}
      isBusy={create.isPending}
      onSubmit={() => create.mutate({ name, flow_data: flow })}
      onClose={onClose}
    >
      <NameField value={name} onChange={setName} placeholder={t('workflows.nameHint')} />
    </FormDialog>
  );
}
