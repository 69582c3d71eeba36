import { Alert, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useDraftSyncState } from '../editor-context.ts';

/** Why the draft isn't saved, and whether a copy is stored in the browser. */
export function DraftFailure() {
  const why = useDraftFailure();
  return why === null ? null : (
    <Alert py={4} px="sm" radius={0} color="red">
      <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
        {why}
      </Text>
    </Alert>
  );
}

/** Null while the draft can be saved. */
export function useDraftFailure(): string | null {
  const { t } = useTranslation();
  const { status, refusal, isUndecided, isInBrowser } = useDraftSyncState(
    'status',
    'refusal',
    'isUndecided',
    'isInBrowser',
  );
  if (status !== 'failed') return null;
  const kept = t(isInBrowser ? 'workplace.draft.inBrowser' : 'workplace.draft.inWindow');
  if (isUndecided) return `${t('workplace.draft.undecided')} ${kept}`;
  if (refusal === null) return `${t('workplace.draft.unreachable')} ${kept}`;
  const reason =
    refusal.code === 'body_too_large'
      ? t('workplace.draft.tooLarge')
      : t('workplace.draft.refused', { reason: refusal.message });
  return `${reason} ${kept}`;
}
