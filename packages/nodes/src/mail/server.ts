import {
  type AccessToken,
  type MailMessage,
  type MailServer,
  type NodeContext,
  ServiceError,
} from '@millrace/engine';
import { message } from '@millrace/messages';

const SUBMISSION_PORT = 587;
/** Encrypted from the first byte. */
const TLS_PORT = 465;
const SERVER = /^([A-Za-z0-9._-]+)(?::([0-9]{1,5}))?$/;

type Context = Pick<NodeContext, 'credentials' | 'mail' | 'signal'>;
type Sent = Awaited<ReturnType<NodeContext['mail']['send']>>;

/** How a mail is sent: the credential, and what an `oauth2` one doesn't know. */
interface Login {
  readonly credential_id: number;
  readonly mailbox: string;
  readonly server: string;
}

/**
 * Sends with the server of an `smtp` credential; or with a token of an `oauth2` one, and once more with another if the server doesn't accept it.
 * @throws ServiceError
 */
export async function sendMail(login: Login, mail: MailMessage, context: Context): Promise<Sent> {
  const { credentials, signal } = context;
  const { credential_id: id, mailbox: username, server } = login;
  if (username === '' && server === '') {
    return await context.mail.send(await credentials.open(id, { types: ['smtp'] }), mail, signal);
  }
  const [, host, digits = String(SUBMISSION_PORT)] = SERVER.exec(server) ?? [];
  if (host === undefined || username === '') {
    throw new ServiceError('invalid_config', message('nodes.mailbox_and_server'));
  }
  const port = Number(digits);
  const url = `https://${host}:${port}/`;
  const attempt = async ({ text: accessToken }: AccessToken): Promise<Sent> => {
    const security = port === TLS_PORT ? 'tls' : 'starttls';
    const to: MailServer = { host, port, security, username, password: null, accessToken };
    return await context.mail.send(to, mail, signal);
  };
  const token = await credentials.token(id, { url }, signal);
  if (token === null) throw new Error('a token is only missing after it was refused');
  try {
    return await attempt(token);
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === 'mail_auth_failed')) throw error;
    const next = await credentials.token(id, { url, refused: token }, signal);
    if (next === null) throw error;
    return await attempt(next);
  }
}
