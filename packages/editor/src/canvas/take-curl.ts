import '@millrace/ui/i18n/parts/pasting.ts';
import { type CurlRequest, readCurl } from '@millrace/editor-model/curl.ts';
import { notifyDone, notifyWarning } from '@millrace/ui/components/notify.ts';
import type { TFunction } from 'i18next';

/** Reads a curl command, and says what became of it; null if it can't be read. */
export function takeCurl(text: string, t: TFunction): CurlRequest | null {
  const read = readCurl(text);
  if (read === null) {
    notifyWarning(t('pasting.noCurl'));
    return null;
  }
  notifyDone(t(read.credential === null ? 'pasting.filled' : 'pasting.filledWithSecret'));
  if (read.leftOut.length > 0)
    notifyWarning(t('pasting.curlLeftOut', { options: read.leftOut.join(t('common.listSeparator')) }));
  return read;
}
