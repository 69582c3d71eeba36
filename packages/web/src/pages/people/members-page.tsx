import '@millrace/ui/i18n/parts/people.ts';
import { Button, Radio, Stack, Tabs, TextInput } from '@mantine/core';
import { isAtLeast, ROLES, type Role } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useOrg, useRole } from '@millrace/ui/api/me.ts';
import { useFilters } from '@millrace/ui/api/search-params.ts';
import { FormDialog } from '@millrace/ui/components/form-dialog.tsx';
import { Page } from '@millrace/ui/components/page.tsx';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { InvitationList } from './invitation-list.tsx';
import { LinkDialog } from './link-dialog.tsx';
import { MemberList } from './member-list.tsx';
import { readMembersSearch } from './people-search.ts';
import { knownReason, notifyRefusal } from './problems.ts';

/** Members and invitations of the organisation. */
export function MembersPage() {
  const { t } = useTranslation();
  const [{ tab = 'members' }, apply] = useFilters(readMembersSearch);
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
        onChange={(value) => apply({ tab: value === 'invitations' ? value : undefined })}
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

/** Creates an invitation and shows its link once. */
function InviteDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const org = useOrg();
  const { role: own } = useRole();
  const [role, setRole] = useState<Role>('editor');
  const [email, setEmail] = useState('');
  const body = { role, ...(email.trim() === '' ? {} : { email: email.trim() }) };
  const invite = useChange(() => call('POST /orgs/:org/invitations', { params: { org }, body }), {
    refreshes: ['GET /orgs/:org/invitations'],
    onError: (error) => knownReason(error) === null && notifyRefusal(error),
  });
  if (invite.data !== undefined)
    return <LinkDialog url={invite.data.url} text={t('people.linkText')} onClose={onClose} />;
  return (
    <FormDialog
      title={t('people.inviteTitle')}
      action={t('people.makeLink')}
      isBusy={invite.isPending}
      onSubmit={() => invite.mutate()}
      onClose={onClose}
    >
      <Radio.Group
        label={t('people.role')}
        value={role}
        onChange={(value) => setRole(value as Role)}
        size="xs"
      >
        <Stack gap={6} mt={4}>
          {ROLES.filter((each) => isAtLeast(own, each)).map((each) => (
            <Radio
              key={each}
              size="xs"
              value={each}
              label={t(`shell.role.${each}`)}
              description={t(`people.roleHint.${each}`)}
            />
          ))}
        </Stack>
      </Radio.Group>
      <TextInput
        data-autofocus
        type="email"
        label={t('people.inviteEmail')}
        description={t('people.inviteEmailHint')}
        autoComplete="off"
        maxLength={254}
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        error={knownReason(invite.error)}
      />
    </FormDialog>
  );
}
