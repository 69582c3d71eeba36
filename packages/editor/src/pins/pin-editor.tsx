import { Button, Group, Stack, Text } from '@mantine/core';
import { isJsonObject, type JsonObject, parseJson } from '@millrace/engine';
import { Code } from '@millrace/ui/components/code.tsx';
import { PinOff } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { usePin } from './use-pin.ts';

/** A node's output as JSON: what is pinned, or what is known; what is changed here is pinned. */
export function PinEditor({
  nodeId,
  known,
  label,
  onValidity,
}: {
  nodeId: string;
  /** What it put out at its last run. */
  known?: JsonObject | undefined;
  label: string;
  /** Told when what is written becomes an object, or is none any more. */
  onValidity?: (isValid: boolean) => void;
}) {
  const { t } = useTranslation();
  const pin = usePin(nodeId);
  const outer = JSON.stringify(pin.output ?? known ?? {}, null, 2);
  const [draft, setDraft] = useState<string | null>(null);
  const [seen, setSeen] = useState(outer);
  // Pinned or unpinned elsewhere, where the same output is written, too: this field follows.
  if (outer !== seen) {
    setSeen(outer);
    const own = draft === null ? null : readObject(draft);
    if (own !== null && JSON.stringify(own, null, 2) !== outer) setDraft(null);
  }
  const text = draft ?? outer;
  const value = readObject(text);
  const change = (next: string) => {
    if (next === text) return;
    setDraft(next);
    const changed = readObject(next);
    onValidity?.(changed !== null);
    if (changed !== null) pin.set(changed);
  };
  const unpin = () => {
    setDraft(null);
    onValidity?.(true);
    pin.set(null);
  };
  return (
    <Stack gap={4}>
      <Code value={text} language="json" label={label} minHeight={60} maxHeight={260} onChange={change} />
      {value === null && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert">
          {t('forms.pinNoObject')}
        </Text>
      )}
      <Group gap="xs" justify="space-between" wrap="nowrap">
        <Text size="xs" c="dimmed">
          {t(pin.output === undefined ? 'forms.pinByEditing' : 'forms.pinnedAbout')}
        </Text>
        {pin.output !== undefined && (
          <Button
            variant="default"
            size="compact-xs"
            leftSection={<PinOff size={12} />}
            onClick={unpin}
            style={{ flexShrink: 0 }}
          >
            {t('forms.unpin')}
          </Button>
        )}
      </Group>
    </Stack>
  );
}

function readObject(text: string): JsonObject | null {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
