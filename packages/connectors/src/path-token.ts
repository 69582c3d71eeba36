import type { NodeContext } from '@millrace/engine';
import { message } from '@millrace/messages';
import { noCredential } from '@millrace/node-kit/credential-property';
import { HIDDEN } from '@millrace/node-kit/hidden';
import type { HttpConfig } from '@millrace/node-kit/http/config';
import { type Exchange, prepareExchange } from '@millrace/node-kit/http/exchange';
import type { WireRequest } from '@millrace/node-kit/http/request';
import { NodeProblem } from '@millrace/node-kit/node-problem';
import type { Asked, Connector } from './format.ts';

const SETTING = 'credential_id';

/**
 * Prepares the request of an operation with the credential that its config names: in its headers, or before its path if the service takes the token there.
 * @throws NodeProblem, ServiceError
 */
export async function prepareSigned(
  { title, base_url: base, authentication: { chat } }: Connector,
  { request }: Pick<Asked, 'request'>,
  wire: WireRequest,
  config: HttpConfig,
  context: Pick<NodeContext, 'http' | 'credentials' | 'files' | 'signal'>,
): Promise<Exchange> {
  if (chat === undefined || config.auth.type !== 'credential')
    return prepareExchange(wire, config, context, SETTING);
  const { credential_id: id } = config.auth;
  if (id === 0) throw new NodeProblem(noCredential(SETTING, ['chat']));
  const credential = await context.credentials.open(id, { types: ['chat'] });
  const token = credential.token?.trim() ?? '';
  if (credential.service !== chat.service || !new RegExp(chat.form).test(token)) {
    throw new NodeProblem(
      message('nodes.connector_chat_credential', { service: title }),
      'invalid_credential',
    );
  }
  // Of a server of one's own, which the service's maker offers; the credential says where it is.
  const root = (credential.base_url ?? base).replace(/\/+$/, '');
  // The address of a request of its own lies below the connector's, so it is there at any server.
  const below = (request.base_url ?? base).slice(base.length);
  const path = wire.url.slice(base.length + below.length);
  const withToken = (shown: string) => `${root}${below}${chat.before}${shown}${path}`;
  const { send } = await prepareExchange(
    { ...wire, url: withToken(token) },
    { ...config, auth: { type: 'none' } },
    context,
    SETTING,
  );
  return { shown: { ...wire, url: withToken(HIDDEN) }, send };
}
