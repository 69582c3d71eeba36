import '@millrace/ui/i18n/parts/help.ts';
import { Menu } from '@mantine/core';
import { useLocation } from '@tanstack/react-router';
import { BookOpen, CircleHelp, Code, Keyboard } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { guideTo } from './guides.ts';

/** The items of the help menu. The documentation opens beside what somebody is working on. */
export function HelpItems({ onKeys }: { onKeys: () => void }) {
  const { t } = useTranslation();
  const guide = guideTo(useLocation().pathname);
  return (
    <>
      {guide !== null && (
        <Menu.Item component="a" href={guide} target="_blank" leftSection={<CircleHelp size={14} />}>
          {t('help.thisPage')}
        </Menu.Item>
      )}
      <Menu.Item component="a" href="/docs/guides" target="_blank" leftSection={<BookOpen size={14} />}>
        {t('help.documentation')}
      </Menu.Item>
      <Menu.Item component="a" href="/docs" target="_blank" leftSection={<Code size={14} />}>
        {t('help.apiReference')}
      </Menu.Item>
      <Menu.Item leftSection={<Keyboard size={14} />} onClick={onKeys}>
        {t('help.keys')}
      </Menu.Item>
    </>
  );
}
