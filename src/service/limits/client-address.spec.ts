import { clientKey } from './client-address.js';

describe('clientKey', () => {
  it.each<[string, string | undefined, string]>([
    ['an IPv4 address is itself', '203.0.113.7', '203.0.113.7'],
    ['mapped into IPv6, as a socket of two families tells it', '::ffff:203.0.113.7', '203.0.113.7'],
    ['mapped, in hexadecimal', '::ffff:cb00:7107', '203.0.113.7'],
    ['with the port that a proxy added', '203.0.113.7:50123', '203.0.113.7'],
    ['an IPv6 address is its /64', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['another of the same /64', '2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['one of the next /64', '2001:db8:1:3::', '2001:db8:1:3::/64'],
    ['however it is written', '2001:0DB8:0001:0002:0000:0000:0000:0001', '2001:db8:1:2::/64'],
    ['in brackets', '[2001:db8:1:2::1]', '2001:db8:1:2::/64'],
    ['in brackets, with a port', '[2001:db8:1:2::1]:443', '2001:db8:1:2::/64'],
    ['with a zone', 'fe80::1%eth0', 'fe80::/64'],
    ['6to4 is its IPv4 address', '2002:cb00:7107::1', '203.0.113.7'],
    ['so is any other network of it', '2002:cb00:7107:ffff:1:2:3:4', '203.0.113.7'],
    ['the next 6to4 owner', '2002:cb00:7108::1', '203.0.113.8'],
    ['behind a translator, its IPv4 address', '64:ff9b::203.0.113.7', '203.0.113.7'],
    ['behind one of the older kind', '::ffff:0:203.0.113.7', '203.0.113.7'],
    ['behind one with a prefix of its own', '64:ff9b:1:2::203.0.113.7', '203.0.113.7'],
    // The example of RFC 4380, section 4: client 192.0.2.45, server 65.54.227.120.
    ['Teredo is the client behind it', '2001:0:4136:e378:8000:63bf:3fff:fdd2', '192.0.2.45'],
    ['through another server', '2001:0:0102:0304:8000:63bf:3fff:fdd2', '192.0.2.45'],
    ['the loopback', '::1', '::/64'],
    ['no address', 'unknown', 'unknown'],
    ['something long', 'x'.repeat(10_000), 'unknown'],
    ['nothing', '', 'unknown'],
    ['a connection that is gone', undefined, 'unknown'],
  ])('%s: %s', (_, address, key) => {
    expect(clientKey(address)).toBe(key);
  });

  it('shares the limits of its /48, or of its IPv4 address', () => {
    expect(clientKey('2001:db8:1:2::1', 48)).toBe('2001:db8:1::/48');
    expect(clientKey('2001:db8:1:ffff::1', 48)).toBe('2001:db8:1::/48');
    expect(clientKey('2001:db8:2:2::1', 48)).toBe('2001:db8:2::/48');
    expect(clientKey('::ffff:203.0.113.7', 48)).toBe('203.0.113.7');
  });
});
