import { Group, Progress, SimpleGrid, Stack, Text } from '@mantine/core';
import type { StoragePart } from '@millrace/admin-api';
import { Hint } from '@millrace/ui/components/text.tsx';
import { useTranslation } from 'react-i18next';
import { formatBytes } from '../system/format.ts';

/** From this part of the limit on, a bar is a warning. */
const NEARLY_FULL = 0.8;

/** What an organisation stores, a bar for each part; `owner` names it for screen readers where there are several. */
export function StorageBars({ parts, owner }: { parts: readonly StoragePart[]; owner?: string }) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md" verticalSpacing="sm">
      {parts.map((part) => (
        <Bar key={part.part} part={part} owner={owner} />
      ))}
    </SimpleGrid>
  );
}

function Bar({
  part: { part, bytes, limit_bytes: limit },
  owner,
}: {
  part: StoragePart;
  owner: string | undefined;
}) {
  const { t, i18n } = useTranslation();
  const size = formatBytes(bytes, i18n.language);
  const name = t(`storage.part.${part}`);
  const used = limit === null ? 0 : bytes / limit;
  const amount =
    limit === null ? size : t('storage.ofLimit', { size, limit: formatBytes(limit, i18n.language) });
  return (
    <Stack gap={4}>
      <Group justify="space-between" gap="xs">
        <Text size="sm">{name}</Text>
        <Hint>{amount}</Hint>
      </Group>
      {limit !== null && (
        <Progress
          value={Math.min(used, 1) * 100}
          {...(used >= NEARLY_FULL ? { color: used >= 1 ? 'red' : 'orange' } : {})}
          aria-label={owner === undefined ? name : `${owner}: ${name}`}
        />
      )}
      {used >= 1 && (
        <Text size="xs" c="var(--mantine-color-red-text)">
          {t(`storage.full.${part}`)}
        </Text>
      )}
    </Stack>
  );
}
