import { Button, Checkbox, Menu, TextInput } from '@mantine/core';
import type { ExecutionView } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg, useRole } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { ConfirmChange, FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Bookmark, BookmarkPlus, Check, Trash2, Users } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type ListSearch, readListSearch } from '../common/search.ts';

const LIST = 'GET /orgs/:org/execution-views';
const MAX_NAME_LENGTH = 100;

/** Saved filters: applies, saves and deletes them. */
export function ViewMenu({ search }: { search: ListSearch }) {
  const { t } = useTranslation();
  const org = useOrg();
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<'save' | 'delete' | null>(null);
  const { data } = useQuery(endpointQuery(LIST, { params: { org } }));
  const views = data?.items ?? [];
  const shown = textOf(search);
  const current = views.find(({ filters }) => textOf(readListSearch(filters)) === shown);
  const isFiltered = Object.keys(search).length > 0;
  const groups = [
    { label: t('runs.views.own'), items: views.filter((view) => view.is_own) },
    { label: t('runs.views.shared'), items: views.filter((view) => !view.is_own) },
  ].filter(({ items }) => items.length > 0);
  return (
    <>
      <Menu position="bottom-start">
        <Menu.Target>
          <Button variant="default" leftSection={<Bookmark size={14} aria-hidden />} maw={220}>
            {current?.name ?? t('runs.views.title')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown mah={420} maw={320} style={{ overflowY: 'auto' }}>
          {groups.map(({ label, items }) => (
            <ViewGroup
              key={label}
              label={label}
              items={items}
              current={current}
              onPick={({ filters }) =>
                void navigate({ to: '.', search: readListSearch(filters) as never, replace: true })
              }
            />
          ))}
          {groups.length > 0 && <Menu.Divider />}
          <Menu.Item
            leftSection={<BookmarkPlus size={14} aria-hidden />}
            disabled={!isFiltered}
            onClick={() => setDialog('save')}
          >
            {t('runs.views.save')}
          </Menu.Item>
          {current?.may_delete === true && (
            <Menu.Item
              color="red"
              leftSection={<Trash2 size={14} aria-hidden />}
              onClick={() => setDialog('delete')}
            >
              {t('runs.views.deleteNamed', { name: current.name })}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {dialog === 'save' && <SaveDialog search={search} onClose={() => setDialog(null)} />}
      {dialog === 'delete' && current !== undefined && (
        <DeleteDialog view={current} onClose={() => setDialog(null)} />
      )}
    </>
  );
}

function ViewGroup({
  label,
  items,
  current,
  onPick,
}: {
  label: string;
  items: readonly ExecutionView[];
  current: ExecutionView | undefined;
  onPick: (view: ExecutionView) => void;
}) {
  const { t } = useTranslation();
  return (
    <>
      <Menu.Label>{label}</Menu.Label>
      {items.map((view) => (
        <Menu.Item
          key={view.id}
          onClick={() => onPick(view)}
          aria-current={view.id === current?.id || undefined}
          leftSection={
            view.id === current?.id ? <Check size={14} aria-hidden /> : <Bookmark size={14} aria-hidden />
          }
          rightSection={
            view.is_own && view.is_shared && <Users size={14} aria-label={t('runs.views.isShared')} />
          }
          style={{ overflowWrap: 'anywhere' }}
        >
          {view.name}
        </Menu.Item>
      ))}
    </>
  );
}

function SaveDialog({ search, onClose }: { search: ListSearch; onClose: () => void }) {
  const { t } = useTranslation();
  const org = useOrg();
  const { can } = useRole();
  const [name, setName] = useState('');
  const [isShared, setIsShared] = useState(false);
  const save = useChange(
    () =>
      call('POST /orgs/:org/execution-views', {
        params: { org },
        body: { name: name.trim(), is_shared: isShared, filters: search },
      }),
    { refreshes: [LIST], done: t('runs.views.saved', { name: name.trim() }), onSuccess: onClose },
  );
  return (
    <FormDialog
      title={t('runs.views.saveTitle')}
      action={t('runs.views.saveAction')}
      isBusy={save.isPending}
      isReady={name.trim() !== ''}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <TextInput
        data-autofocus
        label={t('runs.views.name')}
        description={t('runs.views.nameHint')}
        maxLength={MAX_NAME_LENGTH}
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      {can('editor') && (
        <Checkbox
          label={t('runs.views.share')}
          checked={isShared}
          onChange={({ currentTarget }) => setIsShared(currentTarget.checked)}
        />
      )}
    </FormDialog>
  );
}

function DeleteDialog({ view, onClose }: { view: ExecutionView; onClose: () => void }) {
  const { t } = useTranslation();
  const org = useOrg();
  return (
    <ConfirmChange
      title={t('runs.views.deleteTitle', { name: view.name })}
      action={t('runs.views.deleteAction')}
      change={() => call('DELETE /orgs/:org/execution-views/:view', { params: { org, view: view.id } })}
      done={t('runs.views.deleted', { name: view.name })}
      refreshes={[LIST]}
      onClose={onClose}
    >
      {view.is_shared ? t('runs.views.deleteShared') : t('runs.views.deleteText')}
    </ConfirmChange>
  );
}

/** The same text for the same filters, whatever their order. */
function textOf(search: ListSearch): string {
  return JSON.stringify(Object.entries(search).sort(([a], [b]) => (a < b ? -1 : 1)));
}
