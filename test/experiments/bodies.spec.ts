import { bodiesOf, goldenBodies } from '../support/golden-bodies.js';

it('the golden bodies of the default brain are the same bytes from a process with 3 workers', async () => {
  expect(await bodiesOf({ WORKERS: '3' })).toEqual(goldenBodies);
});
