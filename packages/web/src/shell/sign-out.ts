import { ApiProblem, call } from '@millrace/ui/api/client.ts';
import { forgetRecent } from '@millrace/ui/commands/recent.ts';
import { useChange } from '@millrace/ui/components/use-change.ts';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';

/** Signs out and opens the sign-in page. Reports a failure: users must not believe they are signed out when they aren't. */
export function useSignOut() {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return useChange(
    async () => {
      try {
        await call('POST /sign-out');
      } catch (error) {
        if (!(error instanceof ApiProblem && error.status === 401)) throw error;
      }
    },
    {
      onSuccess: () => {
        queryClient.clear();
        forgetRecent();
        return navigate({ to: '/sign-in' });
      },
    },
  );
}
