import '@millrace/ui/i18n/parts/help.ts';
import { Menu } from '@mantine/core';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg, useRole } from '@millrace/ui/api/me.ts';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { BadgeCheck, BookOpen, Braces, CircleHelp, Keyboard } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { guideTo } from './guides.ts';

/** The items of the help menu. The documentation opens beside what somebody is working on. */
export function HelpItems({ onKeys }: { onKeys: () => void }) {
  const { t } = useTranslation();
  const guide = guideTo(useLocation().pathname);
  const { can } = useRole();
  const org = useOrg();
  const navigate = useNavigate();
  const showFirstSteps = useChange(() => call('PUT /me/first-steps', { body: { shown: true } }), {
    refreshes: ['GET /me'],
    onSuccess: () => navigate({ to: `/o/${org}/workflows`, hash: 'first-steps' }),
  });
  return (
    <>
      {can('editor') && (
        <Menu.Item leftSection={<BadgeCheck size={14} />} onClick={() => showFirstSteps.mutate(undefined)}>
          {t('help.firstSteps.title')}
        </Menu.Item>
      )}
      {guide !== null && (
        <Menu.Item component="a" href={guide} target="_blank" leftSection={<CircleHelp size={14} />}>
          {t('help.thisPage')}
        </Menu.Item>
      )}
      <Menu.Item component="a" href="/docs/guides" target="_blank" leftSection={<BookOpen size={14} />}>
        {t('help.documentation')}
      </Menu.Item>
      <Menu.Item component="a" href="/docs" target="_blank" leftSection={<Braces size={14} />}>
        {t('help.apiReference')}
      </Menu.Item>
      <Menu.Item leftSection={<Keyboard size={14} />} onClick={onKeys}>
        {t('help.keys')}
      </Menu.Item>
    </>
  );
}
