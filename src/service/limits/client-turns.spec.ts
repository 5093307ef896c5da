import { setImmediate } from 'node:timers/promises';
import { ClientTurns } from './client-turns.js';

const KIB = 1024;

it('begins work of a client up to the amount of a turn, in order, and delays nobody else', async () => {
  const turns = new ClientTurns(512 * KIB);
  const begun: string[] = [];
  const begin = (name: string, client: string, amount: number) =>
    turns.begin(client, amount, () => begun.push(name));
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) begin(name, 'a', 250 * KIB);
  begin('b1', 'b', 250 * KIB);
  expect(begun).toEqual(['a1', 'a2', 'b1']);
  // A small one does not overtake larger ones that came before it.
  begin('a6', 'a', 1);
  await setImmediate();
  expect(begun.slice(3)).toEqual(['a3', 'a4']);
  expect(turns.areWaiting).toBe(true);
  await setImmediate();
  expect(begun.slice(5)).toEqual(['a5', 'a6']);
  expect(turns.areWaiting).toBe(false);
  // A larger one than a turn allows is the only one of its turn.
  await setImmediate();
  for (const name of ['a7', 'a8']) begin(name, 'a', 900 * KIB);
  expect(begun.slice(7)).toEqual(['a7']);
  await setImmediate();
  expect(begun.slice(8)).toEqual(['a8']);
});

it('counts work that other work begins in the same turn', async () => {
  const turns = new ClientTurns(2);
  const begun: number[] = [];
  const begin = (at: number) => {
    begun.push(at);
    if (at < 5) turns.begin('a', 1, () => begin(at + 1));
  };
  turns.begin('a', 1, () => begin(0));
  expect(begun).toEqual([0, 1]);
  await setImmediate();
  expect(begun.length).toBeLessThanOrEqual(4);
  for (let turn = 0; turn < 3; turn++) await setImmediate();
  expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
});

it('begins a turn when it is told to', () => {
  const scheduled: (() => void)[] = [];
  const turns = new ClientTurns(1, (next) => scheduled.push(next));
  const begun: number[] = [];
  for (const at of [0, 1, 2]) turns.begin('a', 1, () => begun.push(at));
  expect(begun).toEqual([0]);
  scheduled.shift()!();
  expect(begun).toEqual([0, 1]);
  expect(scheduled).toHaveLength(1);
});
