import { withoutPauses } from './parts.js';
import { withPauses } from './pauses.js';

/** Each part is longer than others should wait. */
function* slowly(parts: number, onPart: () => void) {
  for (let part = 0; part < parts; part++) {
    for (const untilMs = performance.now() + 11; performance.now() < untilMs;);
    onPart();
    yield;
  }
  return parts;
}

it('lets others have the thread between parts', async () => {
  const order: string[] = [];
  const others = () => {
    if (order.at(-1) !== 'others') order.push('others');
    if (order.length < 5) setImmediate(others);
  };
  setImmediate(others);
  expect(await withPauses(slowly(3, () => order.push('part')))).toBe(3);
  expect(order.slice(0, 5)).toEqual(['part', 'others', 'part', 'others', 'part']);
});

it('goes on where others keep every turn of the event loop busy', async () => {
  let turnsOfOthers = 0;
  let isOver = false;
  const others = () => {
    turnsOfOthers++;
    for (const untilMs = performance.now() + 11; performance.now() < untilMs;);
    if (!isOver) setImmediate(others);
  };
  setImmediate(others);
  await withPauses(slowly(3, () => undefined));
  isOver = true;
  // Without a bound on their time it would be 16 for each part.
  expect(turnsOfOthers).toBeLessThan(16);
});

it('goes on without a pause where nobody else is there', () => {
  let parts = 0;
  expect(withoutPauses(slowly(2, () => parts++))).toBe(2);
  expect(parts).toBe(2);
});
