import type { Member, Role } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useMe, useOrg } from '@millrace/ui/api/me.ts';
import { endpointKey } from '@millrace/ui/api/query.ts';
import { notifyDone } from '@millrace/ui/components/notify.ts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
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
  const refresh = async () => {
    if (isMe) await queryClient.invalidateQueries({ queryKey: endpointKey('GET /me') });
    await queryClient.invalidateQueries({ queryKey: ['GET /orgs/:org/members'] });
  };
  return {
    setRole: useMutation({
      mutationFn: (role: Role) => call('PATCH /orgs/:org/members/:member', { params, body: { role } }),
      onSuccess: async ({ member: { email, role }, invitation_url: url }) => {
        // Otherwise the role waits, and the link is shown.
        if (url === null) notifyDone(t('people.roleChanged', { email, role: t(`shell.role.${role}`) }));
        else await queryClient.invalidateQueries({ queryKey: ['GET /orgs/:org/invitations'] });
        await refresh();
      },
      onError: notifyRefusal,
    }),
    remove: useMutation({
      mutationFn: () => call('DELETE /orgs/:org/members/:member', { params }),
      onSuccess: async () => {
        notifyDone(t('people.removed', { email: member.email }));
        if (!isMe) return refresh();
        queryClient.clear();
        return navigate({ to: '/' });
      },
      onError: notifyRefusal,
    }),
  };
}
