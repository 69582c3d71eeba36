import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TEST_CERTIFICATE, TEST_KEY, trustTestCertificate } from '../../ports/test/certificate.ts';
import { ImapServer } from './imap-server.ts';
import { PATIENCE, useListening } from './world.ts';

const world = useListening();
let server: ImapServer;
let issuer: Server;
let credential = 0;
/** Tokens that were given out. */
let issued: string[] = [];
let undo: () => void;

beforeEach(async () => {
  undo = trustTestCertificate();
  server = await ImapServer.start({ cert: TEST_CERTIFICATE, key: TEST_KEY });
  server.capabilities += ' AUTH=XOAUTH2 SASL-IR';
  issued = [];
  issuer = createServer((_request, response) => {
    issued.push(`canary-token-${issued.length + 1}`);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ access_token: issued.at(-1), token_type: 'Bearer', expires_in: 3600 }));
  });
  await new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', resolve));
  credential = await world.credential('oauth2', fields(), ['127.0.0.1']);
});
afterEach(async () => {
  undo();
  await server.stop();
  await new Promise((resolve) => issuer.close(resolve));
});

const fields = () => ({
  ...{
    service: 'custom',
    grant: 'client_credentials',
    client_id: 'millrace',
    client_secret: 'canary-secret',
  },
  token_url: `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/token`,
});
const mailbox = (id = credential) =>
  world.workflow('trigger.email', {
    ...{
      credential_id: id,
      mailbox: 'orders@example.com',
      server: `127.0.0.1:${server.port}`,
      existing: 'start',
    },
  });
const mail = (subject: string) =>
  `From: ada@example.com\nSubject: ${subject}\nMessage-ID: <${subject}@x>\n\nTwo tins.`;

test('reads a mailbox with a token, and with a new one once that is no longer accepted', async () => {
  server.tokens.add('canary-token-1');
  server.deliver(mail('1'));
  await world.listener();
  const id = await mailbox();
  await world.startedOf(id, 1);
  expect(server.commands.filter((each) => each.startsWith('AUTHENTICATE XOAUTH2'))).toHaveLength(1);
  server.tokens.clear();
  server.tokens.add('canary-token-2');
  // Tokens that were just fetched are not replaced.
  await world.db().query(`UPDATE credential_grants SET obtained_at = obtained_at - interval '10 minutes'`);
  server.drop();
  server.deliver(mail('2'));
  await world.startedOf(id, 2);
  expect(issued).toHaveLength(2);
});

test('says that a token is not accepted, and does not repeat it', async () => {
  await world.listener();
  const id = await mailbox();
  await expect.poll(async () => (await world.stateOf(id)).code, PATIENCE).toBe('imap_auth_failed');
  const { last_error } = await world.stateOf(id);
  expect(last_error).toContain('token_sign_in_refused');
  expect(last_error).not.toContain('canary');
});

test('sends no token to a host that the credential is not bound to', async () => {
  const id = await mailbox(await world.credential('oauth2', fields(), ['imap.example.com']));
  await world.listener();
  await expect.poll(async () => (await world.stateOf(id)).code, PATIENCE).toBe('credential_host_not_allowed');
  expect([server.commands, issued]).toEqual([[], []]);
});
