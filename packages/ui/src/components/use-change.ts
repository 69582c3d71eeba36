import type { EndpointName } from '@millrace/admin-api';
import { type UseMutationOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { ApiProblem } from '../api/client.ts';
import { notifyDone, notifyFailure } from './notify.ts';

type MutationOptions<Answer, Given> = UseMutationOptions<Answer, Error, Given>;

interface ChangeOptions<Answer, Given> extends Pick<MutationOptions<Answer, Given>, 'onSettled'> {
  /** The notification once it is done. */
  readonly done?: string | ((answer: Answer) => string);
  /** Endpoints to read again once it is done. */
  readonly refreshes?: readonly EndpointName[];
  readonly onSuccess?: (answer: Answer, given: Given) => unknown;
  /** Failures are shown as a notification by default. */
  readonly onError?: (error: Error) => unknown;
}

/** A mutation that says what came of it and refreshes what depends on it. */
export function useChange<Answer, Given = void>(
  mutationFn: (given: Given) => Promise<Answer>,
  { done, refreshes = [], onSuccess, onError = notifyFailure, ...rest }: ChangeOptions<Answer, Given> = {},
) {
  const queryClient = useQueryClient();
  return useMutation<Answer, Error, Given>({
    ...rest,
    mutationFn,
    onSuccess: async (answer, given) => {
      if (done !== undefined) notifyDone(typeof done === 'string' ? done : done(answer));
      await onSuccess?.(answer, given);
      await Promise.all(refreshes.map((name) => queryClient.invalidateQueries({ queryKey: [name] })));
    },
    onError,
  });
}

/** For forms: problems of single fields are shown beside them, everything else as a notification. */
export function notifyUnlessOfFields(error: Error): void {
  if (!(error instanceof ApiProblem) || error.errors.length === 0) notifyFailure(error);
}
