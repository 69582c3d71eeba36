import { Button, Group, Stack } from '@mantine/core';
import { isJsonObject, type JsonObject, tryParseJson } from '@millrace/engine';
import { Code } from '@millrace/ui/components/code.tsx';
import { FieldError, Hint } from '@millrace/ui/components/text.tsx';
import { PinOff } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { usePin } from './use-pin.ts';

/** A node's output as JSON: the pinned one, else the last known; editing pins it. */
export function PinEditor({
  nodeId,
  known,
  label,
  onValidity,
}: {
  nodeId: string;
  /** Its output in the last run. */
  known?: JsonObject | undefined;
  label: string;
  /** Called when the text becomes or stops being a valid object. */
  onValidity?: (isValid: boolean) => void;
}) {
  const { t } = useTranslation();
  const pin = usePin(nodeId);
  const outer = JSON.stringify(pin.output ?? known ?? {}, null, 2);
  const [draft, setDraft] = useState<string | null>(null);
  const [seen, setSeen] = useState(outer);
  // Pinned or unpinned elsewhere, where the same output is editable too: update the field.
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
      {value === null && <FieldError>{t('forms.pinNoObject')}</FieldError>}
      <Group gap="xs" justify="space-between" wrap="nowrap">
        <Hint>{t(pin.output === undefined ? 'forms.pinByEditing' : 'forms.pinnedAbout')}</Hint>
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
  const value = tryParseJson(text);
  return value !== undefined && isJsonObject(value) ? value : null;
}
