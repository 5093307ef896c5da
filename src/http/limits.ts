/** Limits of size and time that apply to every request. */
export const BODY_LIMIT_BYTES = 8 * 1024;
export const HEADER_LIMIT_BYTES = 16 * 1024;
export const PARAMETER_LIMIT_CHARACTERS = 200;
/** From the first byte of a request to its last. */
export const REQUEST_TIMEOUT_MS = 30_000;
export const KEEP_ALIVE_TIMEOUT_MS = 72_000;
/** Of one connection. No library sends so many without waiting; each takes some 10 kB until it is answered. */
export const UNANSWERED_REQUESTS_LIMIT = 64;
/** How often Node looks for requests that take too long. */
export const TIMEOUT_CHECK_MS = 1_000;
/** Of a connection that is answered outside of HTTP, or after it: to send the answer, and for the client to end it. */
export const RAW_ANSWER_TIMEOUT_MS = 5_000;
