import { ActionIcon, Anchor, Badge, Button, Group, Table, Text, TextInput, Tooltip } from '@mantine/core';
import type { Organisation } from '@millrace/admin-api';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Pencil, Plus } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import { useOrg, useRole } from '../../api/me.ts';
import { endpointKey } from '../../api/query.ts';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { notifyDone } from '../../ui/notify.ts';
import { Page } from '../../ui/page.tsx';
import { ErrorState, LoadingRows } from '../../ui/states.tsx';
import { Moment } from '../../ui/time.tsx';
import { MoreButton } from './more-button.tsx';
import { NotAllowed } from './not-allowed.tsx';
import { notifyRefusal, usualReason } from './problems.ts';

const PAGE_SIZE = 50;

/** All organisations of the service, for who administers it. */
export function OrganisationsPage() {
  const { t } = useTranslation();
  const { can } = useRole();
  if (!can('system_admin')) return <NotAllowed title={t('people.organisations')} />;
  return <AllOrganisations />;
}

function AllOrganisations() {
  const { t } = useTranslation();
  const [edited, setEdited] = useState<Organisation | 'new' | null>(null);
  const list = useInfiniteQuery({
    queryKey: ['GET /organisations'],
    queryFn: ({ pageParam, signal }) =>
      call('GET /organisations', {
        query: { limit: PAGE_SIZE, ...(pageParam === null ? {} : { cursor: pageParam }) },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
  const items = list.data?.pages.flatMap((page) => page.items) ?? [];
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
      {list.isPending && <LoadingRows />}
      {list.isError && <ErrorState error={list.error} onRetry={list.refetch} />}
      {items.length > 0 && <OrganisationTable items={items} onRename={setEdited} />}
      <MoreButton list={list} />
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
  readonly items: readonly Organisation[];
  readonly onRename: (organisation: Organisation) => void;
}) {
  const { t } = useTranslation();
  const here = useOrg();
  return (
    <Table highlightOnHover verticalSpacing={6} layout="fixed">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('people.organisationName')}</Table.Th>
          <Table.Th w={140} visibleFrom="sm">
            {t('people.createdAt')}
          </Table.Th>
          <Table.Th w={52} aria-label={t('common.actions')} />
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {items.map((item) => (
          <Table.Tr key={item.id}>
            <Table.Td>
              <Group gap={6} wrap="nowrap">
                <Anchor
                  component={Link}
                  to={`/o/${item.id}`}
                  size="sm"
                  fw={500}
                  truncate
                  title={item.name}
                  c="var(--mantine-color-text)"
                >
                  {item.name}
                </Anchor>
                <Text size="xs" c="dimmed" style={{ flexShrink: 0 }}>
                  {item.id}
                </Text>
                {item.id === here && <Badge style={{ flexShrink: 0 }}>{t('people.here')}</Badge>}
              </Group>
            </Table.Td>
            <Table.Td visibleFrom="sm">
              <Moment at={item.created_at} />
            </Table.Td>
            <Table.Td>
              <Tooltip label={t('people.rename')}>
                <ActionIcon
                  aria-label={t('people.renameNamed', { name: item.name })}
                  onClick={() => onRename(item)}
                >
                  <Pencil size={16} />
                </ActionIcon>
              </Tooltip>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** The name of a new organisation, or another name for one. */
function NameDialog({
  organisation,
  onClose,
}: {
  readonly organisation: Organisation | null;
  readonly onClose: () => void;
}) {
  const { t } = useTranslation();
  const queryClient = useQueryClient();
  const [name, setName] = useState(organisation?.name ?? '');
  const save = useMutation({
    mutationFn: () =>
      organisation === null
        ? call('POST /organisations', { body: { name } })
        : call('PATCH /orgs/:org', { params: { org: organisation.id }, body: { name } }),
    onSuccess: async (saved) => {
      onClose();
      notifyDone(t(organisation === null ? 'people.created' : 'people.renamed', { name: saved.name }));
      await queryClient.invalidateQueries({ queryKey: ['GET /organisations'] });
      await queryClient.invalidateQueries({ queryKey: endpointKey('GET /me') });
    },
    onError: (error) => usualReason(error) === null && notifyRefusal(error),
  });
  return (
    <FormDialog
      isOpen
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
        error={usualReason(save.error)}
      />
    </FormDialog>
  );
}
