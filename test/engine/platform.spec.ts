/** The platform functions for browsers and for Node give the same results. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as browser from '../../clients/tab/platform.js';
import * as node from '../../src/engine/platform.node.js';

it.each([0, 1, 55, 56, 64, 1000, 70_000])('hashes %i bytes', (length) => {
  const bytes = Uint8Array.from({ length }, (_, at) => (at * 7919) & 255);
  const text = 'Größe '.repeat(length % 97);
  expect(browser.sha256Hex(bytes)).toBe(node.sha256Hex(bytes));
  expect(browser.sha256Hex(text)).toBe(node.sha256Hex(text));
  expect(Buffer.from(browser.sha256(bytes, text))).toEqual(Buffer.from(node.sha256(bytes, text)));
});

it('knows the answer of the standard', () => {
  // FIPS 180-2, appendix B.1.
  const digest = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  for (const { sha256Hex } of [browser, node]) expect(sha256Hex('abc')).toBe(digest);
});

it.each(['node-sets', 'synonyms'] as const)('has the file %s', (name) => {
  const file: unknown = JSON.parse(readFileSync(join(__dirname, `../../data/${name}.json`), 'utf8'));
  expect(node.publishedFile(name)).toEqual(file);
  expect(browser.publishedFile(name)).toEqual(file);
});
