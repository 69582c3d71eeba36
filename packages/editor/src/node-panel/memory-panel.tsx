import '@millrace/ui/i18n/parts/conversations.ts';
import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import type { Memory } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg, useRole, useWorkflowId } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { ConfirmDialog } from '@millrace/ui/components/form-dialog.tsx';
import { IconButton } from '@millrace/ui/components/icon-button.tsx';
import { ErrorState } from '@millrace/ui/components/states.tsx';
import { Hint } from '@millrace/ui/components/text.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useQuery } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';

/** The conversations that models remember in this workflow, and forgetting them. */
export function MemoryPanel() {
  const { t } = useTranslation();
  const params = { org: useOrg(), id: useWorkflowId() ?? 0 };
  const { data, error, refetch } = useQuery(
    endpointQuery('GET /orgs/:org/workflows/:id/memories', { params }),
  );
  const { can } = useRole();
  const [isAsking, setIsAsking] = useState(false);
  const forget = useChange(
    (key: string | null) => call('POST /orgs/:org/workflows/:id/memories/forget', { params, body: { key } }),
    {
      done: ({ forgotten: count }) => t('conversations.memory.forgotten', { count }),
      refreshes: ['GET /orgs/:org/workflows/:id/memories'],
      onSuccess: () => setIsAsking(false),
    },
  );
  if (error !== null) return <ErrorState error={error} onRetry={refetch} />;
  if (data === undefined) return <Skeleton height={60} />;
  const { items, has_more: hasMore } = data;
  return (
    <Stack gap={6} component="section" aria-label={t('conversations.memory.label')}>
      <Text size="xs" fw={600}>
        {t('conversations.memory.label')}
      </Text>
      {items.length === 0 && <Hint>{t('conversations.memory.none')}</Hint>}
      {items.map((memory) => (
        <Remembered
          key={memory.key}
          memory={memory}
          onForget={can('editor') ? () => forget.mutate(memory.key) : null}
        />
      ))}
      {hasMore && <Hint>{t('conversations.memory.more')}</Hint>}
      {items.length > 0 && can('editor') && (
        <Button
          variant="subtle"
          color="red"
          w="fit-content"
          leftSection={<Trash2 size={14} />}
          onClick={() => setIsAsking(true)}
        >
          {t('conversations.memory.forgetAll')}
        </Button>
      )}
      <ConfirmDialog
        isOpen={isAsking}
        title={t('conversations.memory.forgetAll')}
        action={t('conversations.memory.forgetAll')}
        isBusy={forget.isPending}
        onConfirm={() => forget.mutate(null)}
        onClose={() => setIsAsking(false)}
      >
        {t('conversations.memory.forgetAllAbout')}
      </ConfirmDialog>
    </Stack>
  );
}

function Remembered({ memory, onForget }: { memory: Memory; onForget: (() => void) | null }) {
  const { t } = useTranslation();
  const { key, turns, has_summary: hasSummary, updated_at: at, expires_at: until } = memory;
  return (
    <Group gap="xs" wrap="nowrap" justify="space-between">
      <div style={{ minWidth: 0 }}>
        <Text size="xs" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
          {key}
        </Text>
        <Hint>
          {t('conversations.memory.turns', { count: turns })}
          {hasSummary && <>, {t('conversations.memory.summary')}</>} · <Moment at={at} /> ·{' '}
          {t('conversations.memory.until')} <Moment at={until} />
        </Hint>
      </div>
      {onForget !== null && (
        <IconButton
          icon={Trash2}
          size="sm"
          variant="subtle"
          color="gray"
          label={t('conversations.memory.forget', { name: key })}
          onClick={onForget}
        />
      )}
    </Group>
  );
}
