/**
 * Checks an amount before it is added to a client's account. NaN would make the account NaN for ever, and no limit
 * would apply to it. With this check, a wrong amount fails only its own request.
 * @returns the amount
 * @throws RangeError for NaN and infinities
 */
export function finite(amount: number): number {
  if (Number.isFinite(amount)) return amount;
  throw new RangeError(`An amount to be counted must be a finite number, got ${amount}.`);
}
