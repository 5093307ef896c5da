const MASK = '***';
/** Allowed parameters. The Redis client would accept any parameter as one of its options, even internal ones. */
const PARAMETERS = ['db', 'family', 'password'];

export function isRedisUrl(value: unknown): boolean {
  try {
    const { protocol, username, password, searchParams } = new URL(String(value));
    if ([...searchParams.keys()].some((name) => !PARAMETERS.includes(name))) return false;
    // Decodes as the Redis client will: a value that it cannot decode would stop the start.
    decodeURIComponent(username + password);
    return /^rediss?:$/.test(protocol) && /^\w+:\/\/\S+$/.test(String(value));
  } catch {
    return false;
  }
}

/** Hides secrets, because people paste printed text into tickets. A password is before the host or in a parameter. */
export function withoutPassword(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // If the text is no URL with a host, any part may be secret.
  if (url === undefined || url.host === '') return /[@?]/.test(text) ? MASK : text;
  const secrets = [...url.searchParams.keys()].filter((name) => /password/i.test(name));
  if (url.password === '' && secrets.length === 0) return text;
  if (url.password !== '') url.password = MASK;
  for (const name of secrets) url.searchParams.set(name, MASK);
  return url.href;
}
