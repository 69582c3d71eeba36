import { ApiProblem, call } from '@millrace/ui/api/client.ts';
import { notifyFailure } from '@millrace/ui/components/notify.ts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';

/** Signs out and leads to the sign-in. When that did not work it says so: whoever leaves must not be taken for gone. */
export function useSignOut() {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: async () => {
      try {
        await call('POST /sign-out');
      } catch (error) {
        if (!(error instanceof ApiProblem && error.status === 401)) throw error;
      }
    },
    onSuccess: async () => {
      queryClient.clear();
      await navigate({ to: '/sign-in' });
    },
    onError: notifyFailure,
  });
}
