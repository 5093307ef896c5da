import { setImmediate } from 'node:timers/promises';
import { SendingTurns } from './sending-turns.js';

const KIB = 1024;

it('sends half a MiB of a client in a turn of the event loop, in order, and delays nobody else', async () => {
  const turns = new SendingTurns();
  const sent: string[] = [];
  const send = (name: string, client: string, bytes: number) => {
    const turn = turns.take(client, bytes);
    if (turn === undefined) sent.push(name);
    else void turn.then(() => sent.push(name));
  };
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) send(name, 'a', 250 * KIB);
  send('b1', 'b', 250 * KIB);
  expect(sent).toEqual(['a1', 'a2', 'b1']);
  await setImmediate();
  expect(sent.slice(3)).toEqual(['a3', 'a4']);
  await setImmediate();
  expect(sent.slice(5)).toEqual(['a5']);
  // A larger one than a turn allows is the only one of its turn.
  await setImmediate();
  for (const name of ['a6', 'a7']) send(name, 'a', 900 * KIB);
  expect(sent.slice(6)).toEqual(['a6']);
  await setImmediate();
  expect(sent.slice(7)).toEqual(['a7']);
});
