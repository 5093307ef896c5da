/**
 * Checks values by their JSON Schema. A fault is a sentence with the field, the allowed values and the value found.
 *
 * Ajv finds the first error. If a value may have several forms (`anyOf`), Ajv gives the errors of all of them. Then the
 * form that was meant (forms.ts) checks the value again, and its first error counts. The keyword of the error decides
 * the sentence. Most are "NAME must be ..., got ...", with words made from the schema (allowed-values.ts).
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { describeValue } from '../errors.js';
import { getOrInsert } from '../get-or-insert.js';
import { allowedBy } from './allowed-values.js';
import { multipleMeant } from './completed.js';
import { type Meant, meantForm, sortedMembers } from './forms.js';
import { invalid, type JsonPath, keysIn, nameOf } from './json-path.js';
import { type Definitions, refusalOf, type Schema } from './json-schema.js';
import { nearestNames } from './nearest-names.js';

/** Longer names do not appear in a path. */
const MAX_PATH_NAME_LENGTH = 100;

/** A fault of a value. */
export interface Fault {
  readonly path: JsonPath;
  /** Without a full stop, so that callers can use it in a longer sentence. */
  readonly message: string;
  readonly suggestions: readonly string[];
}

/**
 * @param path the value's path in the whole document
 * @returns the first fault of the value; undefined if it is valid
 */
export type Check = (value: unknown, path?: JsonPath) => Fault | undefined;

const ajv = new Ajv2020({
  verbose: true,
  strictTypes: false,
  // Schemas are part of the program. Checking them takes longer than compiling them.
  meta: false,
  validateSchema: false,
});
ajv.addVocabulary(['allowed', 'component', 'publishes', 'refused']);
// Ajv's own uniqueItems compares objects pair by pair, which is slow.
ajv.removeKeyword('uniqueItems');
// Ajv's own multipleOf is exact, or accepts any small number as 0. Here 3 * 0.1 is a multiple of 0.1, and 1e-9 is not.
ajv.removeKeyword('multipleOf');
ajv.addKeyword({
  keyword: 'multipleOf',
  type: 'number',
  schemaType: 'number',
  validate: (multipleOf: number, value: number) => multipleMeant(value, multipleOf) !== undefined,
});
ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', validate: allDifferent });

/**
 * Makes the check of a schema. Call it once for each schema; the first check compiles it.
 * @param whole the name of the whole value in messages
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
 * @throws CodedError INVALID_PARAMETER with the path of the fault and suggestions
 */
export function checked(check: Check, value: unknown, path: JsonPath = []): unknown {
  const fault = check(value, path);
  if (fault === undefined) return value;
  throw invalid(fault.path, `${fault.message}.`, fault.suggestions);
}

/** Turns the errors of Ajv's validators into faults. The validators share one set of definitions. */
class Faults {
  readonly #validators = new WeakMap<Schema, ValidateFunction>();

  constructor(
    private readonly definitions: Definitions,
    private readonly whole: string,
  ) {}

  /**
   * @param validate the validator that has just refused the value
   * @param meant how the value's form was chosen, if there are several
   */
  of(validate: ValidateFunction, value: unknown, path: JsonPath, meant?: Meant): Fault {
    // The errors of the forms come before the error of `anyOf`.
    const error = validate.errors!.at(-1)!;
    const here = [...path, ...keysOf(error.instancePath, value)];
    if (error.keyword === 'anyOf') return this.#ofForms(error, here);
    return this.#ofKeyword(error, here, here.length === path.length ? meant : undefined);
  }

  #ofForms({ schema, parentSchema, data }: ErrorObject, path: JsonPath): Fault {
    const forms = schema as readonly Schema[];
    // Forms without a type only name members of which one is required.
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
    // If the form accepts the value, the fault is in a keyword that all forms share.
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

  /** The fault of an unknown member, or else of a missing one. An unknown one often explains the missing one. */
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
      unknown.length > MAX_PATH_NAME_LENGTH ? path : [...path, unknown],
      `${this.#name(path)} may have the members ${members.join(', ')}, got ${describeValue(unknown)}` +
        (near.length === 0 ? '' : `; near: ${near.join(', ')}`),
      near,
    );
  }

  /** @param message Ajv's message, used if allowed-values.ts has no words for the schema */
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

/** @returns the path in a value for a JSON Pointer of Ajv */
function keysOf(pointer: string, value: unknown): JsonPath {
  let at = value;
  return keysIn(pointer).map((key) => {
    const isIndex = Array.isArray(at);
    at = (at as Schema)[key];
    return isIndex ? Number(key) : key;
  });
}

/** Ajv's function for uniqueItems: finds two equal items. Objects are equal if their members are, in any order. */
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
