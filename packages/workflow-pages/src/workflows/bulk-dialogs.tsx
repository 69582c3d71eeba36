import '@millrace/ui/i18n/parts/folders.ts';
import '@millrace/ui/i18n/parts/workflows.ts';
import { Alert, Select, Stack, TagsInput, Text } from '@mantine/core';
import type { WorkflowItem } from '@millrace/admin-api';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { MAX } from './details-fields.tsx';
import { optionsOf, useFolderTree } from './folders.ts';
import { type Refusals, useBulkChange } from './use-bulk-change.ts';

interface DialogProps {
  items: readonly WorkflowItem[];
  onClose: () => void;
  /** All are as wanted. */
  onDone: () => void;
}

type Change = Parameters<ReturnType<typeof useBulkChange>['change']['mutate']>[0];

/** Confirms a change to several workflows; stays open if some refused it, and says which and why. */
function BulkDialog({
  items: given,
  title,
  action,
  change: wanted,
  isReady = true,
  color,
  onClose,
  onDone,
  children,
}: DialogProps & {
  title: string;
  action: string;
  change: Change;
  isReady?: boolean;
  color?: string;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  // The list is refetched meanwhile, without those that are archived now.
  const [items] = useState(given);
  const { change, refusals } = useBulkChange(items);
  const isOver = change.data !== undefined;
  return (
    <FormDialog
      title={title}
      action={isOver ? t('common.close') : action}
      isReady={isReady}
      isBusy={change.isPending}
      {...(color === undefined || isOver ? {} : { color })}
      onSubmit={() => {
        if (isOver) return onClose();
        change.mutate(wanted, {
          onSuccess: ({ refused }) => {
            if (refused.length > 0) return;
            onClose();
            onDone();
          },
        });
      }}
      onClose={onClose}
    >
      {isOver ? <Refused refusals={refusals} /> : children}
    </FormDialog>
  );
}

/** Names listed per reason. */
const MAX_NAMES = 10;

function Refused({ refusals }: { refusals: Refusals }) {
  const { t } = useTranslation();
  return (
    <Stack gap="xs" role="alert">
      {[...refusals].map(([reason, names]) => (
        <Alert key={reason} color="yellow" variant="light" title={reason}>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {names.slice(0, MAX_NAMES).join(t('common.listSeparator'))}
            {names.length > MAX_NAMES && ` ${t('workflows.importMore', { count: names.length - MAX_NAMES })}`}
          </Text>
        </Alert>
      ))}
    </Stack>
  );
}

export function MoveDialog(props: DialogProps) {
  const { t } = useTranslation();
  const tree = useFolderTree();
  const [first] = props.items;
  const isTogether = props.items.every(({ folder_id: id }) => id === first?.folder_id);
  const [folder, setFolder] = useState<number | null>(isTogether ? (first?.folder_id ?? null) : null);
  return (
    <BulkDialog
      {...props}
      title={t('folders.bulk.moveTitle', { count: props.items.length })}
      action={t('folders.bulk.moveAction')}
      change={{ kind: 'move', folder_id: folder }}
    >
      <Select
        label={t('folders.label')}
        placeholder={t('folders.none')}
        description={tree.length === 0 ? t('folders.emptyHint') : undefined}
        data={optionsOf(tree)}
        value={folder === null ? null : String(folder)}
        onChange={(chosen) => setFolder(chosen === null ? null : Number(chosen))}
        nothingFoundMessage={t('folders.noMatch')}
        data-autofocus
        searchable
        clearable
      />
    </BulkDialog>
  );
}

export function TagDialog(props: DialogProps) {
  const { t } = useTranslation();
  const { data } = useQuery(endpointQuery('GET /orgs/:org/workflow-tags', { params: { org: useOrg() } }));
  const [add, setAdd] = useState<string[]>([]);
  const [remove, setRemove] = useState<string[]>([]);
  const present = [...new Set(props.items.flatMap(({ tags }) => tags))];
  return (
    <BulkDialog
      {...props}
      title={t('folders.bulk.tagTitle', { count: props.items.length })}
      action={t('common.save')}
      isReady={add.length > 0 || remove.length > 0}
      change={{ kind: 'tag', add, remove }}
    >
      <TagsInput
        label={t('folders.bulk.addTags')}
        placeholder={add.length === 0 ? t('workflows.tagsHint') : ''}
        data={(data?.tags ?? []).filter((tag) => !remove.includes(tag))}
        value={add}
        maxTags={MAX.tags}
        maxLength={MAX.tag}
        onChange={setAdd}
        data-autofocus
        clearable
      />
      {present.length > 0 && (
        <TagsInput
          label={t('folders.bulk.removeTags')}
          data={present.filter((tag) => !add.includes(tag))}
          value={remove}
          maxTags={MAX.tags}
          maxLength={MAX.tag}
          onChange={(tags) => setRemove(tags.filter((tag) => present.includes(tag)))}
          clearable
        />
      )}
      <Hint>{t('workflows.detailsHint')}</Hint>
    </BulkDialog>
  );
}

export function ArchiveAllDialog(props: DialogProps) {
  const { t } = useTranslation();
  return (
    <BulkDialog
      {...props}
      color="red"
      title={t('folders.bulk.archiveTitle', { count: props.items.length })}
      action={t('workflows.archive')}
      change={{ kind: 'archive' }}
    >
      <Text size="sm">{t('folders.bulk.archiveHint')}</Text>
    </BulkDialog>
  );
}
