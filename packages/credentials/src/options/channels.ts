import { message } from '@millrace/messages';
import { channelLister } from '@millrace/nodes';
import {
  type Listing,
  MAX_ITEMS,
  MAX_PAGES,
  type Option,
  type OptionList,
  optionList,
  unlisted,
} from './option-list.ts';

const MAX_BYTES = 4 * 1024 * 1024;

/**
 * The channels that a chat credential reaches.
 * @throws ServiceError `not_listed`, `refused`, and NodeProblem for a credential that doesn't match its service
 */
export async function listChannels(
  { credential, http, signal }: Listing<'chat'>,
  now: () => number,
): Promise<OptionList> {
  const lister = channelLister(credential);
  if (lister === null) throw unlisted('not_listed', message('service.options_no_channels'));
  const found: Option[] = [];
  const left = [lister.first];
  for (let page = 0; page < MAX_PAGES && found.length <= MAX_ITEMS; page += 1) {
    const query = left.shift();
    if (query === undefined) break;
    const { url, headers } = lister.request(query);
    const limits = { timeoutMs: 60_000, maxRedirects: 0, maxResponseBytes: MAX_BYTES };
    const response = await http.send({ method: 'GET', url, headers, ...limits }, signal);
    const answer = lister.read(response, query, now());
    if ('kind' in answer) {
      const { host } = new URL(url);
      const reason = answer.reason.slice(0, 300);
      throw unlisted('refused', message('service.options_reason', { host, reason }));
    }
    found.push(...answer.channels.map(({ id, name, group }) => ({ value: id, label: name, group })));
    left.push(...answer.more);
  }
  return optionList(found, left.length === 0);
}
