/** The words for a schema fault, for the person who wrote the file. */
import type { z } from 'zod'
import { branchesOf, isSchema, type JsonSchema } from './json-schema.ts'
import { anyOf, didYouMean, type Path } from './problem.ts'

export type Issue = z.core.$ZodIssue

interface Description {
  readonly path: Path
  readonly message: string
  readonly at: 'value' | 'key'
}

export interface Subject {
  readonly value: unknown
  /** The value of a variable is not repeated: it may be a credential. */
  readonly isSecret: boolean
}

export function describeIssue(issue: Issue, path: Path, subject: Subject, shape: JsonSchema): Description[] {
  const schema = schemaAt(shape, path)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: [...path, key], message: unknownField(key, schema), at: 'key' }))
  }
  if (issue.code === 'invalid_key')
    return [{ path, message: issue.issues[0]?.message ?? issue.message, at: 'key' }]
  return [{ path, message: sentence(issue, subject, schema?.description), at: 'value' }]
}

/** Top fields of a LiteLLM configuration. */
const LITELLM = new Set(['model_list', 'litellm_settings', 'general_settings', 'router_settings'])

function unknownField(key: string, schema: JsonSchema | undefined): string {
  if (LITELLM.has(key))
    return 'a field of LiteLLM. `torana import litellm <file>` turns a LiteLLM configuration into a torana.yaml'
  const known = schema ? branchesOf(schema).flatMap((branch) => Object.keys(branch.properties ?? {})) : []
  return `unknown field.${didYouMean(key, known) || ` Known here: ${known.join(', ')}`}`
}

function sentence(issue: Issue, { value, isSecret }: Subject, description = ''): string {
  const word = typeof value === 'string' && !isSecret ? value : undefined
  const choice = (values: readonly string[]) =>
    `expected ${anyOf([...new Set(values)])}, got ${word === undefined ? kindOf(value) : JSON.stringify(word)}` +
    (didYouMean(word ?? '', values) && `.${didYouMean(word ?? '', values)}`)
  switch (issue.code) {
    case 'invalid_type': {
      if (value === undefined) return `is missing. ${description}`.trimEnd()
      const quotes = issue.expected === 'string' && (typeof value === 'number' || typeof value === 'boolean')
      return `expected ${wordFor(issue.expected)}, got ${kindOf(value)}${quotes ? ': put it in quotes' : ''}`
    }
    case 'invalid_value':
      // Schemas with a sentence of their own keep it; the library's own ones start so.
      return issue.message.startsWith('Invalid ') ? choice(issue.values.map(String)) : issue.message
    case 'invalid_union':
      // The union is discriminated by one field, and its value is none of the known ones.
      if (issue.errors.length === 0) return issue.message
      if (value === undefined) return `is missing. ${description}`.trimEnd()
      return choice(issue.errors.flat().flatMap(wantedBy))
    case 'too_small':
      if (typeof value === 'number')
        return `must be ${issue.inclusive ? 'at least' : 'above'} ${issue.minimum}, got ${value}`
      return Array.isArray(value) ? 'needs at least one entry' : 'must not be empty'
    case 'too_big':
      if (typeof value === 'number') return `must be at most ${issue.maximum}, got ${value}`
      return `must have at most ${issue.maximum} characters`
    default:
      return issue.message
  }
}

function wantedBy(issue: Issue): string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String)
  return issue.code === 'invalid_type' ? [wordFor(issue.expected)] : []
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
}

function wordFor(expected: string): string {
  return WORDS[expected] ?? expected
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  return wordFor(typeof value)
}

/** The part of a JSON Schema that speaks about a path. */
function schemaAt(schema: JsonSchema | undefined, path: Path): JsonSchema | undefined {
  const [step, ...rest] = path
  if (!schema || step === undefined) return schema
  for (const branch of branchesOf(schema)) {
    const inside =
      typeof step === 'number' ? branch.items : (branch.properties?.[step] ?? branch.additionalProperties)
    const found = isSchema(inside) ? schemaAt(inside, rest) : undefined
    if (found) return found
  }
  return undefined
}
