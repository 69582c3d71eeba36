import type { JsonObject } from '@millrace/engine';
import { hasMosquitto, type Mosquitto, startMosquitto } from '@millrace/testing/mosquitto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { PATIENCE, useListening } from './world.ts';

const isInstalled = hasMosquitto();
if (!isInstalled)
  console.info(
    'mosquitto is not installed (apt-get install mosquitto mosquitto-clients): tests against it are skipped',
  );

const USER = { username: 'ada', password: 'canary-pass' };

describe.skipIf(!isInstalled)('a Mosquitto broker', () => {
  const world = useListening();
  let broker: Mosquitto;
  let credential = 0;

  beforeAll(async () => {
    broker = await startMosquitto(USER);
  });
  beforeEach(async () => {
    credential = await world.credential('mqtt', fields());
  });
  afterAll(() => broker?.close());

  const fields = (more: JsonObject = {}): JsonObject => ({
    ...{ host: '127.0.0.1', port: broker.port, tls: 'off', ...USER, ...more },
  });
  const subscriber = (more: JsonObject = {}) =>
    world.workflow('trigger.mqtt', { credential_id: credential, topics: ['mill/+/temperature'], ...more });
  const published = (celsius: number) => broker.publish('mill/3/temperature', JSON.stringify({ celsius }));

  test('starts each message once, of the topics that the trigger names', async () => {
    await world.listener();
    const id = await subscriber();
    await world.connected(id);
    await broker.publish('mill/3/humidity', 'no');
    await published(61.5);
    await broker.publish('mill/3/temperature', Buffer.from([0xff, 0]));
    await broker.publish('mill/4/temperature', 'x'.repeat(1_000_001));
    await published(62);
    expect(await world.startedOf(id, 4)).toMatchObject([
      { topic: 'mill/3/temperature', json: { celsius: expect.anything() }, text: '{"celsius":61.5}', qos: 1 },
      { text: null, base64: '/wA=' },
      { topic: 'mill/4/temperature', is_too_large: true, text: null, size: 1_000_001 },
      { text: '{"celsius":62}', is_too_large: false },
    ]);
  });

  test('starts later what is published while nobody listens, also after the broker was restarted', async () => {
    const listener = await world.listener();
    const id = await subscriber();
    await world.connected(id);
    await listener.stop();
    await published(1);
    await broker.stop();
    await broker.start();
    await published(2);
    await world.listener();
    expect(await world.startedOf(id, 2)).toMatchObject([
      { text: '{"celsius":1}' },
      { text: '{"celsius":2}' },
    ]);
  });

  test('connects again when the broker is back, and starts nothing twice', async () => {
    await world.listener();
    const id = await subscriber();
    await world.connected(id);
    await published(1);
    await world.startedOf(id, 1);
    await broker.stop();
    await broker.start();
    await published(2);
    expect(await world.startedOf(id, 2)).toMatchObject([
      { text: '{"celsius":1}' },
      { text: '{"celsius":2}' },
    ]);
  });

  test('says what is wrong with the password', async () => {
    const wrong = await world.credential('mqtt', fields({ password: 'canary-wrong' }));
    await world.listener();
    const id = await subscriber({ credential_id: wrong });
    await expect.poll(async () => (await world.stateOf(id)).code, PATIENCE).toBe('mqtt_auth_failed');
    expect((await world.stateOf(id)).last_error).not.toContain('canary');
  });
});
