import { listenOn } from './every-address.js';

const failing = (code: string) => Object.assign(new Error(code), { code });

it.each([
  ['::', 'EAFNOSUPPORT', ['::', '0.0.0.0']],
  ['::', 'EADDRNOTAVAIL', ['::', '0.0.0.0']],
  ['::', '', ['::']],
])('listens on %j, whose first error is %j, by trying %j', async (host, code, tried) => {
  const hosts: string[] = [];
  await listenOn(host, async (each) => {
    hosts.push(each);
    if (each === '::' && code !== '') throw failing(code);
  });
  expect(hosts).toEqual(tried);
});

it.each([
  ['::', 'EADDRINUSE'],
  ['2001:db8::1', 'EADDRNOTAVAIL'],
])('does not listen elsewhere if %j fails with %j', async (host, code) => {
  const listen = jest.fn(() => Promise.reject(failing(code)));
  await expect(listenOn(host, listen)).rejects.toThrow(code);
  expect(listen).toHaveBeenCalledTimes(1);
});
