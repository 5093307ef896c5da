/** The address that stands for all of this machine, of IPv6 and IPv4. */
export const EVERY_ADDRESS = '::';
const EVERY_IPV4_ADDRESS = '0.0.0.0';
/** Errors of a machine without IPv6, or with IPv6 turned off. */
const WITHOUT_IPV6: readonly (string | undefined)[] = ['EAFNOSUPPORT', 'EADDRNOTAVAIL'];

/** Listens on a host. Without IPv6, every address is every IPv4 address. */
export async function listenOn(host: string, listen: (host: string) => Promise<unknown>): Promise<void> {
  try {
    await listen(host);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (host !== EVERY_ADDRESS || !WITHOUT_IPV6.includes(code)) throw error;
    await listen(EVERY_IPV4_ADDRESS);
  }
}
