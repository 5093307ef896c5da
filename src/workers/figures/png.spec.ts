import { pngInThread } from './png.js';

const PICTURE = { svg: '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"/>', widthPx: 4 };

it('draws some pictures at a time, and refuses others', async () => {
  const all = await Promise.allSettled(Array.from({ length: 10 }, () => pngInThread(PICTURE)));
  const drawn = all.filter(({ status }) => status === 'fulfilled');
  const refused = all.filter(({ status }) => status === 'rejected');
  expect(drawn).toHaveLength(8);
  expect(refused).toEqual(
    new Array(2).fill({ status: 'rejected', reason: expect.objectContaining({ code: 'QUEUE_FULL' }) }),
  );
  expect(Buffer.from(await pngInThread(PICTURE)).toString('latin1', 1, 4)).toBe('PNG');
});
