import { ActionIcon, Badge, Box, Group, Stack, Text, Tooltip, UnstyledButton } from '@mantine/core';
import type { VersionItem } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useRole } from '@millrace/ui/api/me.ts';
import { Hint } from '@millrace/ui/components/text.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { Pin } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useEditorPage } from '../editor-context.ts';
import { useAuthorName } from './version-author.ts';

/** The versions to choose from; pinned ones are repeated at the top, to be found among hundreds. */
export function VersionList({
  pinned,
  items,
  shown,
  onShow,
  children,
}: {
  pinned: readonly VersionItem[];
  items: readonly VersionItem[];
  shown: number | null;
  onShow: (version: number) => void;
  /** Shown below the list. */
  children: ReactNode;
}) {
  const { t } = useTranslation();
  const rows = (title: string, versions: readonly VersionItem[]) => (
    <Stack gap={2} component="ul" aria-label={title} p={0} m={0} style={{ listStyle: 'none' }}>
      {versions.map((item) => (
        <li key={item.version}>
          <VersionRow item={item} isShown={item.version === shown} onShow={() => onShow(item.version)} />
        </li>
      ))}
    </Stack>
  );
  const head = (title: string) => (
    <Hint fw={600} px={6} pt="xs" aria-hidden>
      {title}
    </Hint>
  );
  const [pinnedTitle, allTitle] = [t('versions.pinnedTitle'), t('versions.allTitle')];
  return (
    <Box flex="1 1 260px" mah="72vh" style={{ overflowY: 'auto', scrollbarWidth: 'thin' }}>
      {pinned.length > 0 && (
        <>
          {head(pinnedTitle)}
          {rows(pinnedTitle, pinned)}
          {head(allTitle)}
        </>
      )}
      {rows(allTitle, items)}
      {children}
    </Box>
  );
}

function VersionRow({ item, isShown, onShow }: { item: VersionItem; isShown: boolean; onShow: () => void }) {
  const { t } = useTranslation();
  const { org, workflow } = useEditorPage();
  const { can } = useRole();
  const authorName = useAuthorName();
  const params = { org, id: workflow.id };
  const pin = useChange(
    () =>
      call('PUT /orgs/:org/workflows/:id/versions/:version/pin', {
        params: { ...params, version: item.version },
        body: { pinned: !item.pinned },
      }),
    { refreshes: ['GET /orgs/:org/workflows/:id/versions'] },
  );
  const pinLabel = t(item.pinned ? 'versions.unpin' : 'versions.pin', {
    version: item.version,
  });
  return (
    <Group wrap="nowrap" gap={4} className={`editor-version ${isShown ? 'is-shown' : ''}`}>
      <UnstyledButton flex={1} miw={0} p={6} onClick={onShow} aria-current={isShown}>
        <Group gap={6}>
          <Text size="sm" fw={600}>
            {t('versions.version', { version: item.version })}
          </Text>
          {item.is_current && <Badge>{t('versions.current')}</Badge>}
          {item.pinned && !can('editor') && <Pin size={12} aria-label={t('versions.pinned')} />}
        </Group>
        {item.message !== null && (
          <Text size="sm" lineClamp={2} title={item.message}>
            {item.message}
          </Text>
        )}
        {item.restored_from !== null && (
          <Hint>{t('versions.restoredFrom', { version: item.restored_from })}</Hint>
        )}
        <Hint component="div" truncate>
          {authorName(item.author)}
          {' · '}
          <Moment at={item.created_at} />
        </Hint>
      </UnstyledButton>
      {can('editor') && (
        <Tooltip label={pinLabel}>
          <ActionIcon
            size="sm"
            aria-label={pinLabel}
            color={item.pinned ? 'teal' : 'gray'}
            loading={pin.isPending}
            onClick={() => pin.mutate()}
          >
            <Pin size={14} fill={item.pinned ? 'currentColor' : 'none'} />
          </ActionIcon>
        </Tooltip>
      )}
    </Group>
  );
}
