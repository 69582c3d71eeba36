import type { Member, Role } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useMe, useOrg } from '@millrace/ui/api/me.ts';
import { notifyDone } from '@millrace/ui/components/notify.ts';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { notifyRefusal } from './problems.ts';

/** What can be done to a member; the list is read again after each. */
export function useMemberChanges(member: Member) {
  const { t } = useTranslation();
  const org = useOrg();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const isMe = useMe()?.user.email === member.email;
  const params = { org, member: member.id };
  return {
    setRole: useChange((role: Role) => call('PATCH /orgs/:org/members/:member', { params, body: { role } }), {
      refreshes: [
        ...(isMe ? (['GET /me'] as const) : []),
        'GET /orgs/:org/members',
        'GET /orgs/:org/invitations',
      ],
      onSuccess: ({ member: { email, role }, invitation_url: url }) => {
        // Otherwise the role waits for the invitation, and its link is shown.
        if (url === null) notifyDone(t('people.roleChanged', { email, role: t(`shell.role.${role}`) }));
      },
      onError: notifyRefusal,
    }),
    remove: useChange(() => call('DELETE /orgs/:org/members/:member', { params }), {
      done: t('people.removed', { email: member.email }),
      refreshes: isMe ? [] : ['GET /orgs/:org/members'],
      onSuccess: () => {
        if (!isMe) return;
        queryClient.clear();
        return navigate({ to: '/' });
      },
      onError: notifyRefusal,
    }),
  };
}
