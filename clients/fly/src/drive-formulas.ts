/**
 * Computes drives from channel rates with the formulas of GET /api/v1/model. The service gives only the drives of a
 * whole run; the formulas also give those of a frame.
 */

/** Drives by id, without unit; `turn` from -1, left, to 1, all others from 0 to 1. */
export type Drives = Readonly<Record<string, number>>;

/** The members of a drive in GET /api/v1/model that are used here. */
export interface DriveFormula {
  readonly id: string;
  /** Numbers, + - * /, parentheses, exp(), `channels.NAME` in Hz and `drive.NAME`. */
  readonly formula: string;
}

interface Scope {
  readonly channelsHz: Readonly<Record<string, number>>;
  readonly drive: (id: string) => number;
}
type Expression = (scope: Scope) => number;

const TOKEN = /\s*(?:(\d+(?:\.\d+)?)|((?:channels|drive)\.\w+|exp\b)|([-+*/()]))/y;
/** Decimals of a drive in responses. */
const DECIMALS = 4;

/**
 * @param drives those of GET /api/v1/model
 * @returns a function from channel rates in Hz to the drives, rounded as in a response
 * @throws Error if a formula is invalid, or refers to itself or to an unknown drive; the returned function throws if a
 *   channel is missing
 */
export function drivesFrom(
  drives: readonly DriveFormula[],
): (channelsHz: Readonly<Record<string, number>>) => Drives {
  const expressions = new Map(drives.map((drive) => [drive.id, parse(drive)]));
  for (const { id } of drives) checkReferences(id, drives, []);
  return (channelsHz) => {
    const values: Record<string, number> = {};
    const drive = (id: string): number => {
      values[id] ??= rounded(expressions.get(id)!({ channelsHz, drive }));
      return values[id];
    };
    return Object.fromEntries(drives.map(({ id }) => [id, drive(id)]));
  };
}

/** Refuses references to unknown drives, and circular references. */
function checkReferences(id: string, drives: readonly DriveFormula[], path: readonly string[]): void {
  if (path.includes(id)) throw new Error(`The formula of drive "${id}" refers to itself.`);
  const { formula } = drives.find((drive) => drive.id === id)!;
  for (const [, other] of formula.matchAll(/drive\.(\w+)/g)) {
    if (!drives.some((drive) => drive.id === other)) {
      throw new Error(`The formula of drive "${id}" refers to drive "${other}", which is missing.`);
    }
    checkReferences(other!, drives, [...path, id]);
  }
}

function rounded(value: number): number {
  // Adding 0 turns -0 into 0.
  return Math.round(value * 10 ** DECIMALS) / 10 ** DECIMALS + 0;
}

/** A recursive-descent parser for sums, products, signs and parentheses. */
function parse({ id, formula }: DriveFormula): Expression {
  let at = 0;
  let token = next();

  function fail(): never {
    const found =
      token === '' && at >= formula.trimEnd().length ? 'its end' : `"${token || formula.slice(at).trim()}"`;
    throw new Error(`The formula of drive "${id}" cannot be read at ${found}: ${formula}`);
  }
  function next(): string {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(formula);
    if (match === null) return '';
    at = TOKEN.lastIndex;
    return match[0].trim();
  }
  function take(): string {
    const taken = token;
    token = next();
    return taken;
  }
  function expect(wanted: string): void {
    if (token !== wanted) fail();
    take();
  }

  function sum(): Expression {
    let left = product();
    while (token === '+' || token === '-') {
      const [before, sign] = [left, take() === '+' ? 1 : -1];
      const right = product();
      left = (scope) => before(scope) + sign * right(scope);
    }
    return left;
  }
  function product(): Expression {
    let left = factor();
    while (token === '*' || token === '/') {
      const [before, operator] = [left, take()];
      const right = factor();
      left = (scope) => (operator === '*' ? before(scope) * right(scope) : before(scope) / right(scope));
    }
    return left;
  }
  function factor(): Expression {
    if (token === '-') {
      take();
      const of = factor();
      return (scope) => -of(scope);
    }
    if (token === '(') {
      take();
      const inner = sum();
      expect(')');
      return inner;
    }
    if (token === 'exp') {
      take();
      expect('(');
      const of = sum();
      expect(')');
      // oxlint-disable-next-line no-restricted-properties -- platforms differ only in the last bits, invisible in an animation
      return (scope) => Math.exp(of(scope));
    }
    const word = token;
    if (/^\d/.test(word)) {
      take();
      return () => Number(word);
    }
    const name = word.slice(word.indexOf('.') + 1);
    if (word.startsWith('drive.')) {
      take();
      return ({ drive }) => drive(name);
    }
    if (!word.startsWith('channels.')) fail();
    take();
    return ({ channelsHz }) => {
      const rateHz = channelsHz[name];
      if (rateHz === undefined) throw new Error(`Drive "${id}" reads channel "${name}", which is missing.`);
      return rateHz;
    };
  }

  const expression = sum();
  if (at < formula.trimEnd().length || token !== '') fail();
  return expression;
}
