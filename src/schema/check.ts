/**
 * Checks values by their JSON Schema, and says in a sentence what is wrong: the field, what is allowed, what it got.
 *
 * Ajv finds the first error. Where a value may have several forms (`anyOf`), its errors are those of all forms; the value
 * is then checked again by the form that is meant (forms.ts), and the first error of that one counts. The keyword of the
 * error decides the sentence, mostly "NAME must be ..., got ..." with words made of the schema (allowed-values.ts).
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { describeValue } from '../errors.js';
import { getOrInsert } from '../get-or-insert.js';
import { allowedBy } from './allowed-values.js';
import { type Meant, meantForm } from './forms.js';
import { invalid, type JsonPath, nameOf } from './json-path.js';
import { type Definitions, refusalOf, type Schema } from './json-schema.js';
import { nearestNames } from './nearest-names.js';

/** A longer name is not repeated in a path. */
const LONGEST_NAME_IN_PATH = 100;

/** Fault of a value. */
export interface Fault {
  readonly path: JsonPath;
  /** Without its full stop, to stand within a sentence or to be one. */
  readonly message: string;
  readonly suggestions: readonly string[];
}

/**
 * @param path of the value in a whole
 * @returns the first fault of the value; undefined if it is as its schema says
 */
export type Check = (value: unknown, path?: JsonPath) => Fault | undefined;

const ajv = new Ajv2020({
  verbose: true,
  strictTypes: false,
  // A calculated multiple such as 3 * 0.1 is one.
  multipleOfPrecision: 6,
  // Schemas are part of the program. Checking them takes longer than compiling them.
  meta: false,
  validateSchema: false,
});
ajv.addKeyword('allowed');
ajv.addKeyword('refused');
// That of Ajv compares objects pair by pair.
ajv.removeKeyword('uniqueItems');
ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', validate: allDifferent });

/**
 * Makes the check of a schema; do so once. It is compiled when it is first needed.
 * @param whole what messages call the value as a whole
 */
export function checkOf(schema: Schema, whole = 'The document'): Check {
  const faults = new Faults(schema.$defs ?? {}, whole);
  let validate: ValidateFunction | undefined;
  return (value, path = []) => {
    validate ??= ajv.compile(schema);
    return validate(value) ? undefined : faults.of(validate, value, path);
  };
}

/**
 * @returns the value
 * @throws CodedError INVALID_PARAMETER with the path of the fault and what may have been meant
 */
export function checked(check: Check, value: unknown, path: JsonPath = []): unknown {
  const fault = check(value, path);
  if (fault === undefined) return value;
  throw invalid(fault.path, `${fault.message}.`, fault.suggestions);
}

/** Makes faults of the errors of validators that have the same definitions. */
class Faults {
  readonly #validators = new WeakMap<Schema, ValidateFunction>();

  constructor(
    private readonly definitions: Definitions,
    private readonly whole: string,
  ) {}

  /**
   * @param validate has just refused the value at this path
   * @param meant how its form was chosen, if it is one of several
   */
  of(validate: ValidateFunction, value: unknown, path: JsonPath, meant?: Meant): Fault {
    // The errors of its forms stand before that of `anyOf`.
    const error = validate.errors!.at(-1)!;
    const here = [...path, ...keysOf(error.instancePath, value)];
    if (error.keyword === 'anyOf') return this.#ofForms(error, here);
    return this.#ofKeyword(error, here, here.length === path.length ? meant : undefined);
  }

  #ofForms({ schema, parentSchema, data }: ErrorObject, path: JsonPath): Fault {
    const forms = schema as readonly Schema[];
    // Forms without a type say which members one needs.
    const needed = forms.flatMap(({ type, required = [] }) => (type === undefined ? required : []));
    if (needed.length > 0) {
      return this.#fault(path, `${this.#name(path)} must have one of the members ${needed.join(', ')}`);
    }
    const meant = meantForm(forms, data, this.definitions);
    const { form, tag } = meant;
    if (form === undefined && tag !== undefined) {
      return this.#refused([...path, tag.name], tag.value, { enum: tag.allowed });
    }
    const validate = form && this.#validatorOf(form);
    // A form that has the value after all lacks nothing but what all forms have in common.
    if (validate === undefined || validate(data)) return this.#refused(path, data, parentSchema!);
    return this.of(validate, data, path, meant);
  }

  #ofKeyword(error: ErrorObject, path: JsonPath, meant: Meant | undefined): Fault {
    const { keyword, params, data, message } = error;
    const schema = (error.parentSchema ?? {}) as Schema;
    switch (keyword) {
      case 'additionalProperties':
      case 'required':
        return this.#ofMembers(path, data as object, schema, params['missingProperty'] as string, meant);
      case 'maxProperties': {
        const members = Object.keys(data as object).length;
        const limit = String(params['limit']);
        return this.#fault(path, `${this.#name(path)} may have at most ${limit} members, got ${members}`);
      }
      case 'propertyNames': {
        const { allowed, pattern } = schema.propertyNames!;
        const names = `an object whose names are ${allowed ?? `as in ${pattern}`}`;
        return this.#refused(path, params['propertyName'], { allowed: names });
      }
      case 'uniqueItems': {
        const { i, j } = params as { i: number; j: number };
        const allowed = `different from all other items of the list; item ${j} is the same`;
        return this.#refused([...path, i], (data as readonly unknown[])[i], { allowed });
      }
      default:
        return this.#refused(path, data, schema, message);
    }
  }

  /** A member that the schema does not have, which explains one that is missing, or else the missing one. */
  #ofMembers(
    path: JsonPath,
    value: object,
    schema: Schema,
    missing: string,
    meant: Meant | undefined,
  ): Fault {
    const { properties = {}, additionalProperties } = schema;
    const unknown = Object.keys(value).find((member) => !Object.hasOwn(properties, member));
    if (unknown !== undefined && additionalProperties === false) {
      const reason = refusalOf(schema, unknown);
      const here = [...path, unknown];
      if (reason !== undefined) return this.#fault(here, `${this.#name(here)} cannot be set: ${reason}`);
      return this.#unknownMember(path, unknown, Object.keys(properties), meant);
    }
    const meaning = properties[missing]?.description;
    const more = meaning === undefined ? '' : `: ${meaning.replace(/\.$/, '')}`;
    return this.#fault([...path, missing], `${this.#name(path)} must have the member ${missing}${more}`);
  }

  #unknownMember(
    path: JsonPath,
    unknown: string,
    members: readonly string[],
    { tag, candidates }: Meant = { candidates: [], form: undefined },
  ): Fault {
    const owners = candidates.filter(({ properties = {} }) => Object.hasOwn(properties, unknown));
    const values = new Set(owners.map(({ properties }) => String(properties![tag?.name ?? '']?.['const'])));
    if (tag !== undefined && values.size > 0 && !values.has(String(tag.value))) {
      return this.#fault(
        [...path, unknown],
        `${this.#name(path)} may have ${unknown} only if ${tag.name} is ${[...values].join(' or ')}, got ${String(tag.value)}`,
      );
    }
    const near = nearestNames(unknown, members);
    return this.#fault(
      unknown.length > LONGEST_NAME_IN_PATH ? path : [...path, unknown],
      `${this.#name(path)} may have the members ${members.join(', ')}, got ${describeValue(unknown)}` +
        (near.length === 0 ? '' : `; near: ${near.join(', ')}`),
      near,
    );
  }

  /** @param message what Ajv says, for a schema without words of ours */
  #refused(path: JsonPath, value: unknown, schema: Schema, message?: string): Fault {
    const allowed = allowedBy(schema);
    const names = schema.enum ?? ('const' in schema ? [schema['const']] : []);
    return this.#fault(
      path,
      `${this.#name(path)} ${allowed === undefined ? message : `must be ${allowed}`}, got ${describeValue(value)}`,
      typeof value === 'string' ? nearestNames(value, names.map(String)) : [],
    );
  }

  #fault(path: JsonPath, message: string, suggestions: readonly string[] = []): Fault {
    return { path, message, suggestions };
  }

  #name(path: JsonPath): string {
    return nameOf(path, this.whole);
  }

  #validatorOf(form: Schema): ValidateFunction {
    return getOrInsert(this.#validators, form, () => ajv.compile({ ...form, $defs: this.definitions }));
  }
}

/** @returns the path that a JSON Pointer of Ajv means in a value */
function keysOf(pointer: string, value: unknown): JsonPath {
  let at = value;
  return pointer
    .split('/')
    .slice(1)
    .map((token) => {
      const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
      const isIndex = Array.isArray(at);
      at = (at as Schema)[key];
      return isIndex ? Number(key) : key;
    });
}

/** Says where two items of a list are equal: texts, numbers, or objects and lists with equal members, in any order. */
function allDifferent(isWanted: boolean, items: readonly unknown[]): boolean {
  const seen = new Map<string, number>();
  for (const [i, item] of isWanted ? items.entries() : []) {
    const key =
      typeof item === 'object'
        ? `object ${JSON.stringify(item, sortedMembers)}`
        : `${typeof item} ${String(item)}`;
    const j = seen.get(key);
    if (j !== undefined) {
      (allDifferent as { errors?: object[] }).errors = [{ keyword: 'uniqueItems', params: { i, j } }];
      return false;
    }
    seen.set(key, i);
  }
  return true;
}

/** Replaces an object by one whose members are in order. */
function sortedMembers(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
