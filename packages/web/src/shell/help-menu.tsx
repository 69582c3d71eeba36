import { Group, Menu, Text, UnstyledButton } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { CircleHelp } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';

const HelpItems = lazyPart(async () => (await import('./help-items.tsx')).HelpItems);
const KeyboardMap = lazyPart(
  async () => (await import('@millrace/editor/canvas/keyboard-map.tsx')).KeyboardMap,
);

/** Documentation, keyboard shortcuts and the API reference. */
export function HelpMenu({ isNarrow, isEditor }: { isNarrow: boolean; isEditor: boolean }) {
  const { t } = useTranslation();
  const [hasKeys, setHasKeys] = useState(false);
  const showKeys = () => setHasKeys(true);
  // The editor's toolbar shows them there.
  useHotkeys(isEditor ? [] : ['?', 'shift+?'].map((keys) => [keys, showKeys]));
  return (
    <>
      <Menu width={264} position="top-start">
        <Menu.Target>
          <UnstyledButton
            w="100%"
            p={4}
            aria-label={t('shell.help')}
            title={isNarrow ? t('shell.help') : undefined}
          >
            <Group gap="xs" wrap="nowrap" justify={isNarrow ? 'center' : undefined} mih={28}>
              <CircleHelp size={18} aria-hidden />
              {!isNarrow && <Text size="sm">{t('shell.help')}</Text>}
            </Group>
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown>
          <HelpItems onKeys={showKeys} />
        </Menu.Dropdown>
      </Menu>
      {hasKeys && <KeyboardMap onClose={() => setHasKeys(false)} />}
    </>
  );
}
