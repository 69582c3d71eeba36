import { call } from '@millrace/ui/api/client.ts';
import { endpointKey, endpointQuery } from '@millrace/ui/api/query.ts';
import { notifyFailure } from '@millrace/ui/components/notify.ts';
import { chooseLanguage, i18next, type Language } from '@millrace/ui/i18n/index.ts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect } from 'react';

/** Switches to the account's language once the account is known. */
export function useLanguageOfAccount(): void {
  const { data: me } = useQuery({ ...endpointQuery('GET /me'), enabled: false });
  const language = me?.user.language ?? null;
  useEffect(() => {
    if (language !== null && language !== i18next.language) void chooseLanguage(language);
  }, [language]);
}

/** Changes the language here at once, and in the account, so that other browsers follow. */
export function useChooseLanguage(): (language: Language) => Promise<void> {
  const queryClient = useQueryClient();
  return useCallback(
    async (language) => {
      const key = endpointKey('GET /me');
      // A response in flight still has the old language.
      await queryClient.cancelQueries({ queryKey: key });
      queryClient.setQueryData(endpointQuery('GET /me').queryKey, (me) =>
        me === undefined ? me : { ...me, user: { ...me.user, language } },
      );
      await chooseLanguage(language);
      await call('PUT /me/language', { body: { language } }).catch(notifyFailure);
    },
    [queryClient],
  );
}
