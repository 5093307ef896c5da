import { describeValue, type CodedError } from '../../../errors.js';
import { invalid, type JsonPath, nameOf } from '../../../schema/json-path.js';
import { nearestNames } from '../../../schema/nearest-names.js';

/** The error for a parameter that cannot be swept, with the names that may have been meant. */
export function refusedName(
  path: JsonPath,
  name: string,
  names: readonly string[],
  allowed: string,
): CodedError {
  const near = nearestNames(name, names);
  const hint = near.length === 0 ? '' : `; near: ${near.join(', ')}`;
  return invalid(path, `${nameOf(path)} must be ${allowed}, got ${describeValue(name)}${hint}.`, near);
}
