const MASK = '***';
/** The client of Redis takes any parameter as one of its options, also those that are not for its user to choose. */
const PARAMETERS = ['db', 'family', 'password'];

export function isRedisUrl(value: unknown): boolean {
  try {
    const { protocol, username, password, searchParams } = new URL(String(value));
    if ([...searchParams.keys()].some((name) => !PARAMETERS.includes(name))) return false;
    // As the client of Redis will: what it cannot decode would end the start.
    decodeURIComponent(username + password);
    return /^rediss?:$/.test(protocol) && /^\w+:\/\/\S+$/.test(String(value));
  } catch {
    return false;
  }
}

/** Hides secrets, as what is printed is pasted into tickets. A password stands before the host, or in a parameter. */
export function withoutPassword(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // If it is not a URL with a host, it is not known which part is secret.
  if (url === undefined || url.host === '') return /[@?]/.test(text) ? MASK : text;
  const secrets = [...url.searchParams.keys()].filter((name) => /password/i.test(name));
  if (url.password === '' && secrets.length === 0) return text;
  if (url.password !== '') url.password = MASK;
  for (const name of secrets) url.searchParams.set(name, MASK);
  return url.href;
}
