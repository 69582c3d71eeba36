import { Button, Tabs } from '@mantine/core';
import { Page } from '@millrace/ui/components/page.tsx';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { InvitationList } from './invitation-list.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { MemberList } from './member-list.tsx';
import { readMembersSearch } from './people-search.ts';

/** Who belongs to the organisation, and who is invited. */
export function MembersPage() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { tab = 'members' } = readMembersSearch(useSearch({ strict: false }));
  const [isInviting, setIsInviting] = useState(false);
  const invite = () => setIsInviting(true);
  return (
    <Page
      title={t('people.members')}
      description={t('people.membersHint')}
      actions={
        <Button leftSection={<UserPlus size={14} />} onClick={invite}>
          {t('people.invite')}
        </Button>
      }
    >
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={(value) =>
          navigate({ to: '.', search: value === 'invitations' ? { tab: value } : {}, replace: true })
        }
      >
        <Tabs.List mb="sm">
          <Tabs.Tab value="members">{t('people.members')}</Tabs.Tab>
          <Tabs.Tab value="invitations">{t('people.invitations')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="members">
          <MemberList />
        </Tabs.Panel>
        <Tabs.Panel value="invitations">
          <InvitationList onInvite={invite} />
        </Tabs.Panel>
      </Tabs>
      {isInviting && <InviteDialog onClose={() => setIsInviting(false)} />}
    </Page>
  );
}
