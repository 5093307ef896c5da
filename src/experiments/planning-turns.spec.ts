import { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { readEnvironment } from '../config/environment.js';
import { PlanningTurns } from './planning-turns.js';

/** What is asked of a request: whose it is, and whether its client is there. */
function requestOf(ip: string, socket = new Socket()): FastifyRequest {
  return { ip, raw: { socket } } as FastifyRequest;
}

it('plans a document of each client in turn, one to its end before the next', async () => {
  const turns = new PlanningTurns(readEnvironment({}));
  const parts: string[] = [];
  const planned = (ip: string, name: string) =>
    turns.take(
      requestOf(ip),
      (function* () {
        parts.push(`${name} begins`);
        yield;
        parts.push(`${name} ends`);
        return name;
      })(),
    );
  const names = await Promise.all([
    planned('192.0.2.1', 'a1'),
    planned('192.0.2.1', 'a2'),
    planned('192.0.2.1', 'a3'),
    planned('192.0.2.2', 'b1'),
    planned('192.0.2.2', 'b2'),
  ]);
  expect(names).toEqual(['a1', 'a2', 'a3', 'b1', 'b2']);
  expect(parts).toEqual(['a1', 'b1', 'a2', 'b2', 'a3'].flatMap((name) => [`${name} begins`, `${name} ends`]));
});

it('goes on after a document that fails, and never begins one whose client has gone', async () => {
  const turns = new PlanningTurns(readEnvironment({}));
  let begun = 0;
  const planning = function* (fails = false) {
    begun++;
    yield;
    if (fails) throw new Error('It is wrong.');
  };
  const socket = new Socket();
  const gone = turns.take(requestOf('192.0.2.1', socket), planning());
  const outcomes = Promise.allSettled([
    gone,
    turns.take(requestOf('192.0.2.1'), planning(true)),
    turns.take(requestOf('192.0.2.1'), planning()),
  ]);
  socket.destroy();
  expect((await outcomes).map((outcome) => (outcome as PromiseRejectedResult).reason as unknown)).toEqual([
    expect.objectContaining({ code: 'RUN_CANCELLED' }),
    new Error('It is wrong.'),
    undefined,
  ]);
  expect(begun).toBe(2);
  await expect(turns.take(requestOf('192.0.2.1', socket), planning())).rejects.toMatchObject({
    code: 'RUN_CANCELLED',
  });
  expect(begun).toBe(2);
});
