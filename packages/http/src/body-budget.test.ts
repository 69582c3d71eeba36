import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { ApiError } from '@millrace/errors/errors';
import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { BodyBudget, reserveBody } from './body-budget.ts';

function budgetOf(total: number) {
  const clock = { now: 0 };
  const givenUp: string[] = [];
  const budget = new BodyBudget(total, () => clock.now);
  const take = (payer: string, bytes: number) => budget.take(payer, bytes, () => givenUp.push(payer));
  return { budget, clock, givenUp, take };
}

describe('the memory for request bodies', () => {
  it('is never exceeded, except by a single body', () => {
    const { budget, take } = budgetOf(100);
    expect([take('a', 40), take('b', 40), take('c', 40)].map((room) => room !== null)).toEqual([
      true,
      true,
      false,
    ]);
    expect(take('c', 20)).not.toBeNull();
    expect(budget.usedBytes).toBe(100);
    expect(budgetOf(100).take('a', 500)).not.toBeNull();
  });

  it('is free again once released, and only once', () => {
    const { budget, take } = budgetOf(100);
    const room = take('a', 60);
    expect(take('b', 60)).toBeNull();
    room?.release();
    room?.release();
    expect(budget.usedBytes).toBe(0);
    expect(take('b', 60)).not.toBeNull();
  });

  it('leaves room for others: nobody gets more than is left', () => {
    const { take } = budgetOf(100);
    let count = 0;
    while (take('greedy', 10) !== null) count += 1;
    expect(count).toBe(5);
    expect(take('other', 10)).not.toBeNull();
  });

  it('is taken from bodies that arrive too slowly, but only when others need it', () => {
    const { budget, clock, givenUp, take } = budgetOf(100_000);
    const slow = take('slow', 60_000);
    const done = take('done', 30_000);
    done?.arrived();
    clock.now = 11_000;
    expect(take('next', 20_000)).toBeNull();
    clock.now = 60_000;
    expect(givenUp).toEqual([]);
    expect(take('next', 20_000)).not.toBeNull();
    expect(givenUp).toEqual(['slow']);
    slow?.release();
    expect(budget.usedBytes).toBe(50_000);
  });
});

it('a request that is given up gets 408, and its connection is closed', async () => {
  const { budget, clock, take } = budgetOf(100_000);
  const app = Fastify();
  app.decorateRequest('principal', null);
  app.decorateRequest('session', null);
  app.decorateRequest('bodyRoom', null);
  app.addHook('onRequest', async (request, reply) => reserveBody(budget, request, reply));
  app.setErrorHandler((error, _request, reply) =>
    reply.code(error instanceof ApiError ? error.status : 500).send('refused'),
  );
  app.post('/', () => 'received');
  await app.listen({ host: '127.0.0.1', port: 0 });
  try {
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{',
    );
    await expect.poll(() => budget.usedBytes).toBe(60_000);
    clock.now = 60_000;
    expect(take('other', 90_000)).not.toBeNull();
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 408 [\s\S]*\r\nconnection: close\r\n[\s\S]*refused$/);
    await once(socket, 'close');
    expect(budget.usedBytes).toBe(90_000);
  } finally {
    await app.close();
  }
});
