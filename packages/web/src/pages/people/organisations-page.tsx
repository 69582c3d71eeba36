import '@millrace/ui/i18n/parts/people.ts';
import { Badge, Button, Group, TextInput } from '@mantine/core';
import type { Organisation } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { usePages } from '@millrace/ui/api/pages.ts';
import { DataTable } from '@millrace/ui/components/data-table.tsx';
import { FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { Page } from '@millrace/ui/components/page.tsx';
import { PagedList } from '@millrace/ui/components/paged-list.tsx';
import { RowLink } from '@millrace/ui/components/row-link.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { Pencil, Plus } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { knownReason, notifyRefusal } from './problems.ts';

const PAGE_SIZE = 50;

/** All organisations, for service administrators. */
export function OrganisationsPage() {
  const { t } = useTranslation();
  const [edited, setEdited] = useState<Organisation | 'new' | null>(null);
  const list = usePages('GET /organisations', { query: { limit: PAGE_SIZE } });
  return (
    <Page
      title={t('people.organisations')}
      description={t('people.organisationsHint')}
      actions={
        <Button leftSection={<Plus size={14} />} onClick={() => setEdited('new')}>
          {t('people.newOrganisation')}
        </Button>
      }
    >
      <PagedList list={list}>{(items) => <OrganisationTable items={items} onRename={setEdited} />}</PagedList>
      {edited !== null && (
        <NameDialog organisation={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />
      )}
    </Page>
  );
}

function OrganisationTable({
  items,
  onRename,
}: {
  items: readonly Organisation[];
  onRename: (organisation: Organisation) => void;
}) {
  const { t } = useTranslation();
  return (
    <DataTable
      items={items}
      columns={[
        { head: t('people.organisationName'), cell: (item) => <NameCell item={item} /> },
        { head: t('people.createdAt'), width: 140, cell: (item) => <Moment at={item.created_at} /> },
      ]}
      actions={(item) => <RenameButton item={item} onRename={onRename} />}
      narrow={(item) => (
        <Group justify="space-between" wrap="nowrap">
          <NameCell item={item} />
          <RenameButton item={item} onRename={onRename} />
        </Group>
      )}
    />
  );
}

function NameCell({ item }: { item: Organisation }) {
  const { t } = useTranslation();
  const here = useOrg();
  return (
    <Group gap={6} wrap="nowrap" miw={0}>
      <RowLink to={`/o/${item.id}`} title={item.name} isName>
        {item.name}
      </RowLink>
      <Hint style={{ flexShrink: 0 }}>#{item.id}</Hint>
      {item.id === here && <Badge style={{ flexShrink: 0 }}>{t('people.here')}</Badge>}
    </Group>
  );
}

function RenameButton({
  item,
  onRename,
}: {
  item: Organisation;
  onRename: (organisation: Organisation) => void;
}) {
  const { t } = useTranslation();
  return (
    <IconButton
      icon={Pencil}
      label={t('people.renameNamed', { name: item.name })}
      hint={t('people.rename')}
      onClick={() => onRename(item)}
    />
  );
}

/** Names a new organisation or renames an existing one. */
function NameDialog({ organisation, onClose }: { organisation: Organisation | null; onClose: () => void }) {
  const { t } = useTranslation();
  const [name, setName] = useState(organisation?.name ?? '');
  const save = useChange(
    () =>
      organisation === null
        ? call('POST /organisations', { body: { name } })
        : call('PATCH /orgs/:org', { params: { org: organisation.id }, body: { name } }),
    {
      done: (saved) => t(organisation === null ? 'people.created' : 'people.renamed', { name: saved.name }),
      refreshes: ['GET /organisations', 'GET /me'],
      onSuccess: onClose,
      onError: (error) => knownReason(error) === null && notifyRefusal(error),
    },
  );
  return (
    <FormDialog
      title={organisation === null ? t('people.newOrganisation') : t('people.renameTitle')}
      action={organisation === null ? t('people.create') : t('people.rename')}
      isBusy={save.isPending}
      isReady={name.trim() !== '' && name.trim() !== organisation?.name}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <TextInput
        data-autofocus
        label={t('people.organisationName')}
        maxLength={255}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={knownReason(save.error)}
      />
    </FormDialog>
  );
}
