import { addressSpaceAdvice } from './address-space.js';

const limits = (soft: string) =>
  'Limit                     Soft Limit           Hard Limit           Units     \n' +
  'Max resident set          8192000000           unlimited            bytes     \n' +
  `Max address space         ${soft.padEnd(20)} unlimited            bytes     \n`;

it('names a limited address space, and the remedies', () => {
  expect(addressSpaceAdvice(limits('8192000000'))).toMatch(
    /limited to 8192000000 bytes \(ulimit -v\).*up to 27 GB .*WORKERS .*NODE_OPTIONS=--disable-wasm-trap-handler, which makes it 13 GB\.$/,
  );
});

it.each([limits('unlimited'), ''])('says nothing if it is not limited: %#', (text) => {
  expect(addressSpaceAdvice(text)).toBe('');
});
