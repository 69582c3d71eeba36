import type { EndpointName } from '@millrace/admin-api';
import { type UseMutationOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { ApiProblem } from '../api/client.ts';
import { notifyDone, notifyFailure } from './notify.ts';

type MutationOptions<Answer, Given> = UseMutationOptions<Answer, Error, Given>;

export interface ChangeOptions<Answer, Given> extends Pick<MutationOptions<Answer, Given>, 'onSettled'> {
  /** The success notification. */
  readonly done?: string | ((answer: Answer) => string) | undefined;
  /** Endpoints to refetch on success. */
  readonly refreshes?: readonly EndpointName[] | undefined;
  readonly onSuccess?: (answer: Answer, given: Given) => unknown;
  /** By default failures are shown as a notification. */
  readonly onError?: ((error: Error, given: Given) => unknown) | undefined;
}

/** A mutation that reports its result and refetches dependent data. */
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

/** For forms: field errors are shown beside the fields, everything else as a notification. */
export function notifyUnlessOfFields(error: Error): void {
  if (!(error instanceof ApiProblem) || error.errors.length === 0) notifyFailure(error);
}
