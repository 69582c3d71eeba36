import { Badge, Group, Stack, Text, Tooltip, VisuallyHidden } from '@mantine/core';
import type { ApiKey } from '@millrace/admin-api';
import { DataTable } from '@millrace/ui/components/data-table.tsx';
import { Hint, Muted } from '@millrace/ui/components/text.tsx';
import { Moment } from '@millrace/ui/components/time.tsx';
import { useTranslation } from 'react-i18next';
import { KeyActions } from './key-actions.tsx';
import { KeyStateCell } from './key-state.tsx';
import { scopeText, shortKey } from './key-text.ts';
import type { IssuedSecret } from './secret-dialog.tsx';

interface TableProps {
  items: readonly ApiKey[];
  onIssued: (issued: IssuedSecret) => void;
}

/** The keys as a table, or as a list in a narrow window. */
export function KeyTable({ items, onIssued }: TableProps) {
  const { t } = useTranslation();
  return (
    <DataTable
      items={items}
      columns={[
        { head: t('keys.name'), cell: (item) => <NameCell item={item} /> },
        { head: t('keys.stateLabel'), width: 190, cell: (item) => <KeyStateCell item={item} /> },
        { head: t('keys.scopes'), width: 170, cell: (item) => <KeyScopes item={item} /> },
        { head: t('keys.issuedBy'), width: 170, cell: (item) => <IssuerCell item={item} /> },
        { head: t('keys.lastUse'), width: 140, cell: (item) => <LastUse item={item} /> },
        { head: t('keys.expiry'), width: 110, cell: (item) => <Expiry item={item} /> },
      ]}
      actions={(item) => <KeyActions item={item} onIssued={onIssued} />}
      narrow={(item) => <NarrowRow item={item} onIssued={onIssued} />}
      narrowBelow="62em"
      isTopAligned
    />
  );
}

function NarrowRow({ item, onIssued }: { item: ApiKey } & Pick<TableProps, 'onIssued'>) {
  const { t } = useTranslation();
  return (
    <>
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
    </>
  );
}

function Labelled({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <div style={{ minWidth: 0 }}>
      <Hint>{label}</Hint>
      {children}
    </div>
  );
}

function NameCell({ item }: { item: ApiKey }) {
  return (
    <Stack gap={0} miw={0}>
      <Text fw={500} size="sm" truncate title={item.name}>
        {item.name}
      </Text>
      <Hint ff="monospace" truncate title={shortKey(item)}>
        {shortKey(item)}
      </Hint>
    </Stack>
  );
}

function IssuerCell({ item: { issuer, issued_by: email } }: { item: ApiKey }) {
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
      <Hint>{role}</Hint>
    </Stack>
  );
}

function LastUse({ item: { last_used_at: at, last_used_ip: ip } }: { item: ApiKey }) {
  const { t } = useTranslation();
  if (at === null) {
    return <Muted>{t('keys.neverUsed')}</Muted>;
  }
  return (
    <Stack gap={0} miw={0}>
      <Moment at={at} />
      {ip !== null && (
        <Hint ff="monospace" truncate title={ip}>
          {ip}
        </Hint>
      )}
    </Stack>
  );
}

function Expiry({ item: { expires_at: at } }: { item: ApiKey }) {
  const { t } = useTranslation();
  return at === null ? <Muted>{t('keys.never')}</Muted> : <Moment at={at} />;
}

/** A key's scopes; those beyond its issuer's role are struck out, with an explanation. */
function KeyScopes({ item }: { item: ApiKey }) {
  const { t } = useTranslation();
  const { issuer, scopes, effective_scopes: effective } = item;
  const reason =
    issuer === 'removed'
      ? t('keys.cutRemoved')
      : t('keys.cut', { role: issuer === 'operator' ? '' : t(`shell.role.${issuer}`) });
  return (
    <Group gap={4}>
      {scopes.map((scope) =>
        effective.includes(scope) ? (
          <Tooltip key={scope} label={t(scopeText(scope))}>
            <Badge color="gray" variant="outline" size="xs">
              {scope}
            </Badge>
          </Tooltip>
        ) : (
          <Tooltip key={scope} label={reason} multiline maw={280}>
            <Badge color="gray" variant="outline" size="xs" td="line-through" c="dimmed" tabIndex={0}>
              {scope}
              <VisuallyHidden>: {reason}</VisuallyHidden>
            </Badge>
          </Tooltip>
        ),
      )}
    </Group>
  );
}
