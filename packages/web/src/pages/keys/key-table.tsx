import { Group, Stack, Table, Text, Tooltip, VisuallyHidden } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { ApiKey } from '@millrace/admin-api';
import { useTranslation } from 'react-i18next';
import { Moment } from '../../ui/time.tsx';
import { KeyActions } from './key-actions.tsx';
import { KeyScopes } from './key-scopes.tsx';
import { KeyStateCell } from './key-state.tsx';
import { shortKey } from './key-text.ts';
import type { IssuedSecret } from './secret-dialog.tsx';

interface TableProps {
  readonly items: readonly ApiKey[];
  readonly onIssued: (issued: IssuedSecret) => void;
}

/** The keys as a table; in a narrow window as a list. */
export function KeyTable({ items, onIssued }: TableProps) {
  const { t } = useTranslation();
  const isNarrow = useMediaQuery('(max-width: 62em)', false);
  if (isNarrow) {
    return (
      <Stack gap={0} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {items.map((item) => (
          <NarrowRow key={item.id} item={item} onIssued={onIssued} />
        ))}
      </Stack>
    );
  }
  return (
    <Table highlightOnHover verticalSpacing={6} layout="fixed">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('keys.name')}</Table.Th>
          <Table.Th w={190}>{t('keys.stateLabel')}</Table.Th>
          <Table.Th w={170}>{t('keys.scopes')}</Table.Th>
          <Table.Th w={170}>{t('keys.issuedBy')}</Table.Th>
          <Table.Th w={140}>{t('keys.lastUse')}</Table.Th>
          <Table.Th w={110}>{t('keys.expiry')}</Table.Th>
          <Table.Th w={52}>
            <VisuallyHidden>{t('common.actions')}</VisuallyHidden>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {items.map((item) => (
          <Table.Tr key={item.id} style={{ verticalAlign: 'top' }}>
            <Table.Td>
              <NameCell item={item} />
            </Table.Td>
            <Table.Td>
              <KeyStateCell item={item} />
            </Table.Td>
            <Table.Td>
              <KeyScopes item={item} />
            </Table.Td>
            <Table.Td>
              <IssuerCell item={item} />
            </Table.Td>
            <Table.Td>
              <LastUse item={item} />
            </Table.Td>
            <Table.Td>
              <Expiry item={item} />
            </Table.Td>
            <Table.Td>
              <KeyActions item={item} onIssued={onIssued} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function NarrowRow({ item, onIssued }: { readonly item: ApiKey } & Pick<TableProps, 'onIssued'>) {
  const { t } = useTranslation();
  return (
    <Stack
      component="li"
      gap={8}
      py="sm"
      style={{ borderBottom: '1px solid var(--mantine-color-default-border)' }}
    >
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <NameCell item={item} />
        <KeyActions item={item} onIssued={onIssued} />
      </Group>
      <KeyStateCell item={item} />
      <KeyScopes item={item} />
      <Group gap="lg" align="flex-start">
        <Labelled label={t('keys.lastUse')}>
          <LastUse item={item} />
        </Labelled>
        <Labelled label={t('keys.expiry')}>
          <Expiry item={item} />
        </Labelled>
        <Labelled label={t('keys.issuedBy')}>
          <IssuerCell item={item} />
        </Labelled>
      </Group>
    </Stack>
  );
}

function Labelled({ label, children }: { readonly label: string; readonly children: React.ReactNode }) {
  return (
    <div style={{ minWidth: 0 }}>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      {children}
    </div>
  );
}

function NameCell({ item }: { readonly item: ApiKey }) {
  return (
    <Stack gap={0} miw={0}>
      <Text fw={500} size="sm" truncate title={item.name}>
        {item.name}
      </Text>
      <Text size="xs" c="dimmed" ff="monospace" truncate title={shortKey(item)}>
        {shortKey(item)}
      </Text>
    </Stack>
  );
}

function IssuerCell({ item: { issuer, issued_by: email } }: { readonly item: ApiKey }) {
  const { t } = useTranslation();
  if (email === null) {
    return (
      <Tooltip label={t('keys.operatorHint')} multiline maw={280}>
        <Text size="sm" tabIndex={0}>
          {t('keys.operator')}
        </Text>
      </Tooltip>
    );
  }
  const role = issuer === 'removed' ? t('keys.left') : issuer === 'operator' ? '' : t(`shell.role.${issuer}`);
  return (
    <Stack gap={0} miw={0}>
      <Text size="sm" truncate title={email}>
        {email}
      </Text>
      <Text size="xs" c="dimmed">
        {role}
      </Text>
    </Stack>
  );
}

function LastUse({ item: { last_used_at: at, last_used_ip: ip } }: { readonly item: ApiKey }) {
  const { t } = useTranslation();
  if (at === null) {
    return (
      <Text size="sm" c="dimmed">
        {t('keys.neverUsed')}
      </Text>
    );
  }
  return (
    <Stack gap={0} miw={0}>
      <Moment at={at} />
      {ip !== null && (
        <Text size="xs" c="dimmed" ff="monospace" truncate title={ip}>
          {ip}
        </Text>
      )}
    </Stack>
  );
}

function Expiry({ item: { expires_at: at } }: { readonly item: ApiKey }) {
  const { t } = useTranslation();
  return at === null ? (
    <Text size="sm" c="dimmed">
      {t('keys.never')}
    </Text>
  ) : (
    <Moment at={at} />
  );
}
