import '@millrace/ui/i18n/parts/workflows.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useCreateWorkflow } from './create-workflow.ts';
import { pathOf, useFolders } from './folders.ts';
import type { ListSearch } from './list-search.ts';
import { NameField } from './name-field.tsx';

/** The editor asks how it starts. */
const FIRST_FLOW = { nodes: [], edges: [] };

/** Asks for the name of an empty workflow, creates it and opens it. */
export function NewWorkflowDialog({
  folder,
  onClose,
}: {
  /** Where it is put, if it is one. */
  folder?: ListSearch['folder'];
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const [name, setName] = useState('');
  const create = useCreateWorkflow();
  const path = pathOf(useFolders(), typeof folder === 'number' ? folder : null);
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
      onSubmit={() => create.mutate({ name, flow_data: flow, folder: [...path] })}
      onClose={onClose}
    >
      <NameField value={name} onChange={setName} placeholder={t('workflows.nameHint')} />
    </FormDialog>
  );
}
