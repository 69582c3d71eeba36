import { Badge, Group, Stack, Table, Text, Tooltip, VisuallyHidden } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { Credential } from '@millrace/admin-api';
import { TriangleAlert } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { Moment } from '../../ui/time.tsx';
import { CredentialActions } from './credential-actions.tsx';
import { isKnownType, targetOf } from './credential-text.ts';

/** The credentials as a table; in a narrow window as a list. */
export function CredentialTable({ items }: { readonly items: readonly Credential[] }) {
  const { t } = useTranslation();
  const isNarrow = useMediaQuery('(max-width: 48em)', false);
  if (isNarrow) {
    return (
      <Stack gap={0} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {items.map((item) => (
          <Stack
            key={item.id}
            component="li"
            gap={6}
            py="sm"
            style={{ borderBottom: '1px solid var(--mantine-color-default-border)' }}
          >
            <Group justify="space-between" wrap="nowrap" align="flex-start">
              <NameCell item={item} />
              <CredentialActions item={item} />
            </Group>
            <Group gap="xs" justify="space-between" wrap="nowrap">
              <TypeName type={item.type} />
              <LastUse item={item} />
            </Group>
            <Target item={item} />
          </Stack>
        ))}
      </Stack>
    );
  }
  return (
    <Table highlightOnHover verticalSpacing={6} layout="fixed">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('credentials.name')}</Table.Th>
          <Table.Th w={180}>{t('credentials.type')}</Table.Th>
          <Table.Th w={230}>{t('credentials.goesTo')}</Table.Th>
          <Table.Th w={115}>{t('credentials.lastUse')}</Table.Th>
          <Table.Th w={115}>{t('credentials.updated')}</Table.Th>
          <Table.Th w={84}>
            <VisuallyHidden>{t('common.actions')}</VisuallyHidden>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {items.map((item) => (
          <Table.Tr key={item.id}>
            <Table.Td>
              <NameCell item={item} />
            </Table.Td>
            <Table.Td>
              <TypeName type={item.type} />
            </Table.Td>
            <Table.Td>
              <Target item={item} />
            </Table.Td>
            <Table.Td>
              <LastUse item={item} />
            </Table.Td>
            <Table.Td>
              <Moment at={item.updated_at} />
            </Table.Td>
            <Table.Td>
              <CredentialActions item={item} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function NameCell({
  item: { id, name, created_by: by, needs_secret: needsSecret },
}: {
  readonly item: Credential;
}) {
  const { t } = useTranslation();
  return (
    <Stack gap={0} miw={0}>
      <Group gap={6} wrap="nowrap">
        <Text size="sm" fw={500} truncate title={name}>
          {name}
        </Text>
        {needsSecret && (
          <Tooltip label={t('credentials.needsSecretHint')} multiline maw={280}>
            <Badge
              color="orange"
              leftSection={<TriangleAlert size={10} aria-hidden />}
              style={{ flexShrink: 0 }}
              tabIndex={0}
            >
              {t('credentials.needsSecret')}
            </Badge>
          </Tooltip>
        )}
      </Group>
      <Text size="xs" c="dimmed" truncate>
        #{id}
        {by !== null && ` · ${t('credentials.createdBy', { email: by })}`}
      </Text>
    </Stack>
  );
}

function TypeName({ type }: { readonly type: string }) {
  const { t } = useTranslation();
  return (
    <Text size="sm" truncate>
      {isKnownType(type) ? t(`credentials.types.${type}.title`) : type}
    </Text>
  );
}

function Target({ item }: { readonly item: Credential }) {
  const { t } = useTranslation();
  const target = targetOf(item);
  if (target === null) {
    return (
      <Text size="sm" c="dimmed" truncate>
        {item.type === 'secret' ? t('credentials.neverSent') : '—'}
      </Text>
    );
  }
  if (target === '*') {
    return (
      <Tooltip label={t('credentials.anyHostWarning')} multiline maw={280}>
        <Group gap={4} wrap="nowrap" c="var(--mantine-color-orange-light-color)" tabIndex={0}>
          <TriangleAlert size={12} aria-hidden />
          <Text size="sm">{t('credentials.everyHost')}</Text>
        </Group>
      </Tooltip>
    );
  }
  return (
    <Text size="sm" truncate title={target} ff="monospace" fz="xs">
      {target}
    </Text>
  );
}

function LastUse({ item: { last_used_at: at } }: { readonly item: Credential }) {
  const { t } = useTranslation();
  return at === null ? (
    <Text size="sm" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
      {t('credentials.neverUsed')}
    </Text>
  ) : (
    <Moment at={at} />
  );
}
