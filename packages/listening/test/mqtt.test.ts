import type { JsonObject } from '@millrace/engine';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nameOf } from '../src/session.ts';
import { MqttBroker } from './mqtt-broker.ts';
import { PATIENCE, useListening } from './world.ts';

const world = useListening();
let broker: MqttBroker;
let credential = 0;

beforeEach(async () => {
  broker = await MqttBroker.start();
  credential = await world.credential('mqtt', fields());
});
afterEach(() => broker.stop());

const fields = (): JsonObject => ({
  ...{ host: '127.0.0.1', port: broker.port, tls: 'off', username: 'ada', password: 'canary-pass' },
});
const subscriber = (more: JsonObject = {}) =>
  world.workflow('trigger.mqtt', { credential_id: credential, topics: ['mill/+/temperature'], ...more });
const published = (celsius: number) => broker.publish('mill/3/temperature', JSON.stringify({ celsius }));

test('starts each message once, and acknowledges it after the start, in the session of the trigger', async () => {
  await world.listener();
  const id = await subscriber();
  await world.connected(id);
  published(61.5);
  broker.publish('mill/3/temperature', Buffer.from([0xff, 0]));
  expect(await world.startedOf(id, 2)).toMatchObject([
    { topic: 'mill/3/temperature', json: { celsius: expect.anything() }, text: '{"celsius":61.5}', qos: 1 },
    { text: null, base64: '/wA=' },
  ]);
  await expect.poll(() => broker.acknowledged, PATIENCE).toEqual([1, 2]);
  expect(broker.clientIds).toEqual([nameOf({ workflow_id: id, node_id: 'start' })]);
});

test('a message whose acknowledgement was lost is not started again, and an equal one is', async () => {
  await world.listener();
  const id = await subscriber();
  await world.connected(id);
  broker.loses = true;
  published(20);
  await world.startedOf(id, 1);
  broker.drop();
  broker.loses = false;
  await expect.poll(() => broker.acknowledged, PATIENCE).toEqual([1]);
  expect(await world.started(id)).toHaveLength(1);
  published(20);
  await world.startedOf(id, 2);
  await expect.poll(() => broker.kept, PATIENCE).toEqual([]);
});

test('leaves out a content that is too large, and goes on', async () => {
  await world.listener();
  const id = await subscriber();
  await world.connected(id);
  broker.publish('mill/3/temperature', 'x'.repeat(1_000_000));
  published(1);
  expect(await world.startedOf(id, 2)).toMatchObject([
    { is_too_large: true, text: null, size: 1_000_000 },
    { is_too_large: false },
  ]);
});

test('what is published while nobody listens is started later', async () => {
  const listener = await world.listener();
  const id = await subscriber();
  await world.connected(id);
  await listener.stop();
  published(1);
  published(2);
  await world.listener();
  await world.startedOf(id, 2);
});

test.each([
  ['mqtt_auth_failed', { password: 'canary-wrong' }, ''],
  ['mqtt_subscription_refused', {}, 'mill/+/temperature'],
])('says what is wrong: %s', async (code, wrong, refuses) => {
  broker.refuses = refuses;
  credential = await world.credential('mqtt', { ...fields(), ...wrong });
  await world.listener();
  const id = await subscriber();
  await expect.poll(async () => (await world.stateOf(id)).code, PATIENCE).toBe(code);
  expect((await world.stateOf(id)).is_told).toBe(true);
});
