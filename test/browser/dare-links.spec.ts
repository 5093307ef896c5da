/** The links of dares. */
import { dareHref, dareOf } from '../../clients/pages/dare-link.js';
import type { Model } from '../../clients/pages/service/client.js';

const MODEL = { stimuli: [{ id: 'loom' }, { id: 'sugar' }] } as unknown as Model;
const ID = '0123456789abcdef0123456789abcdef';

it.each([[['LC6']], [['CB.FB3,4A0', 'SMPp&v1A_H01']]])('of %j are read as they were written', (silence) => {
  const dare = { stimulus: 'loom', silence, id: ID };
  expect(dareOf(dareHref(dare).slice('./'.length), MODEL)).toEqual(dare);
});

it('is none without a dare', () => {
  expect(dareOf('?silence=LC6', MODEL)).toBeUndefined();
});

it.each([
  [`?dare=constructor&silence=LC6&id=${ID}`, 'dare must be one of loom, sugar, got "constructor".'],
  [`?dare=loom&id=${ID}`, 'silence must be 1 or 2 cell types, got 0.'],
  [`?dare=loom&silence=A&silence=B&silence=C&id=${ID}`, 'silence must be 1 or 2 cell types, got 3.'],
  ['?dare=loom&silence=LC6&id=12', 'id must be 32 hexadecimal digits, got "12".'],
  ['?dare=loom&silence=LC6', 'id must be 32 hexadecimal digits, got "".'],
])('%s says what is wrong', (search, message) => {
  expect(() => dareOf(search, MODEL)).toThrow(new Error(message));
});
