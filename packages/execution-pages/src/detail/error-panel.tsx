import '@millrace/ui/i18n/parts/executions.ts';
import { Button, Code, Group, Stack, Text } from '@mantine/core';
import { translateMessage } from '@millrace/ui/i18n/translate-message.ts';
import { CircleX } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import classes from '../common/executions.module.css';
import { ErrorHint } from './error-hint-text.tsx';

/** Longer messages scroll, so they must be focusable. */
const LONG_MESSAGE = 600;

/** Why an execution or node failed, and how to fix it. */
export function ErrorPanel({
  error,
  labels,
  isBrief = false,
  onShowNode,
}: {
  error: { readonly code: string; readonly message: string; readonly node_id?: string | null };
  labels?: ReadonlyMap<string, string>;
  /** The advice is shown elsewhere on the page. */
  isBrief?: boolean;
  onShowNode?: (nodeId: string) => void;
}) {
  const { t } = useTranslation();
  const nodeId = error.node_id ?? null;
  return (
    <section className={classes.error} aria-label={t('executions.error.title')}>
      <Stack gap={6} align="flex-start">
        <Group gap={6}>
          <CircleX size={16} aria-hidden color="var(--mantine-color-error)" />
          <Text span size="sm" fw={600}>
            {t('executions.error.title')}
          </Text>
          <Code>{error.code}</Code>
          {nodeId !== null && (
            <Text span size="sm">
              {t('executions.error.atNode')} <strong>{labels?.get(nodeId) ?? nodeId}</strong>
            </Text>
          )}
        </Group>
        <Text
          size="sm"
          className={classes.message}
          {...(error.message.length > LONG_MESSAGE ? { tabIndex: 0 } : {})}
        >
          {translateMessage(error)}
        </Text>
        {!isBrief && (
          <Text size="sm">
            <strong>{t('executions.error.whatToDo')}:</strong> <ErrorHint code={error.code} />
          </Text>
        )}
        {nodeId !== null && onShowNode !== undefined && (
          <Button variant="default" onClick={() => onShowNode(nodeId)}>
            {t('executions.error.showNode')}
          </Button>
        )}
      </Stack>
    </section>
  );
}
