import { Badge, Group, Tooltip, VisuallyHidden } from '@mantine/core';
import type { ApiKey } from '@millrace/admin-api';
import { useTranslation } from 'react-i18next';
import { scopeText } from './key-text.ts';

/** The scopes of a key; those that the role of its issuer takes away are struck out, and say so. */
export function KeyScopes({ item }: { item: ApiKey }) {
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
