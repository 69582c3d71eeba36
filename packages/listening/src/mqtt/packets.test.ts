import { expect, test } from 'vitest';
import {
  encodeConnect,
  encodePuback,
  encodeSubscribe,
  MqttProtocolError,
  type Packet,
  PacketReader,
} from './packets.ts';

const publish = (payload: Buffer, first = 0x32): Buffer => {
  const body = Buffer.concat([Buffer.from([0, 1, 0x61, 0, 7]), payload]);
  const length: number[] = [];
  for (let left = body.length; ; left >>= 7) {
    length.push(left < 128 ? left : (left & 127) | 128);
    if (left < 128) break;
  }
  return Buffer.concat([Buffer.from([first, ...length]), body]);
};
const shown = (packet: Packet) =>
  packet.type === 'publish' ? { ...packet, payload: packet.payload.toString() } : packet;

test('reads the same packets wherever they are cut, and only the beginning of one that is too large', () => {
  const bytes = Buffer.concat([
    Buffer.from([0x20, 2, 0, 5]),
    publish(Buffer.from('x'.repeat(300))),
    publish(Buffer.from('short'), 0x3b),
    Buffer.from([0x90, 4, 0, 1, 1, 0x80]),
    Buffer.from([0xd0, 0]),
  ]);
  const common = { type: 'publish', topic: 'a', qos: 1, packetId: 7 };
  const expected = [
    { type: 'connack', code: 5 },
    { ...common, payload: 'x'.repeat(95), size: 300, isDuplicate: false, isRetained: false },
    { ...common, payload: 'short', size: 5, isDuplicate: true, isRetained: true },
    { type: 'suback', codes: [1, 0x80] },
    { type: 'pingresp' },
  ];
  for (let size = 1; size <= bytes.length; size += 1) {
    const reader = new PacketReader(100);
    const packets: Packet[] = [];
    for (let at = 0; at < bytes.length; at += size)
      packets.push(...reader.push(bytes.subarray(at, at + size)));
    expect(packets.map(shown)).toEqual(expected);
  }
});

test.each([
  ['a length without end', Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff, 0xff])],
  ['a topic that is longer than its packet', Buffer.from([0x32, 3, 0, 9, 0x61])],
  ['a quality of service that was not asked for', Buffer.from([0x34, 5, 0, 1, 0x61, 0, 1])],
])('refuses %s', (_what, bytes) => {
  expect(() => [...new PacketReader(100).push(bytes)]).toThrow(MqttProtocolError);
});

test('connects with a session that is kept, and subscribes with QoS 1', () => {
  const connect = encodeConnect({ clientId: 'id', username: 'u', password: 'p', keepAliveS: 60 });
  expect(connect.toString('hex')).toBe('101400044d51545404c0003c000269640001750001 70'.replace(' ', ''));
  expect(encodeConnect({ clientId: '', username: null, password: 'p', keepAliveS: 1 })[9]).toBe(0xc0);
  expect(encodeSubscribe(1, ['a/#']).toString('hex')).toBe('820800010003612f2301');
  expect(encodePuback(258).toString('hex')).toBe('40020102');
});
