/** Keys, headers and other values of a deployment, as torana.yaml takes them: secrets only ever as references. */
import { fieldsOf, literal, textOf, variableOf, type Fields } from './read.ts'
import type { Notes, Place } from './notes.ts'
import type { UpstreamDraft } from './torana-file.ts'
import type { Variables } from './variables.ts'

/** A deployment's parameters, and where they stand. */
export interface Placed {
  readonly params: Fields
  readonly place: Place
  /** Where one of them stands. */
  readonly at: (field: string) => Place
}

/** Placeholders for a key that the upstream does not check. */
const NO_KEY =
  /^(none|null|empty|no-?key(-required)?|not-needed|dummy(-key)?|fake(-key)?|sk-fake|anything|x+)$/i

/** The fallback is the variable that LiteLLM would read. */
export function keyOf(
  fallback: string | undefined,
  wish: string,
  { params, at }: Placed,
  variables: Variables,
): string | undefined {
  const given = params['api_key']
  const text = textOf(given)
  if (text !== undefined && NO_KEY.test(text)) return text
  if (text === undefined) return fallback === undefined ? undefined : variables.reference(fallback)
  return secretOf(given, `${wish}_API_KEY`, at('api_key'), variables)
}

export function secretOf(given: unknown, name: string, place: Place, variables: Variables): string {
  const variable = variableOf(given)
  if (variable !== undefined) return variables.reference(variable, place)
  const text = textOf(given)
  return text === undefined ? variables.reference(name) : variables.secret(name, text, place)
}

/** A value that is no secret. `example`: one that its variable may have. */
export function plainOf(
  given: unknown,
  place: Place,
  variables: Variables,
  example?: string,
): string | undefined {
  const variable = variableOf(given)
  if (variable !== undefined) return variables.reference(variable, place, example)
  const text = textOf(given)
  return text === undefined ? undefined : literal(text)
}

const SECRET_HEADER = /auth|key|token|secret|cookie|password/i

export function headersOf(
  wish: string,
  { params, at }: Placed,
  { variables, notes }: { readonly variables: Variables; readonly notes: Notes },
): UpstreamDraft['headers'] {
  const given = { ...fieldsOf(params['headers']), ...fieldsOf(params['extra_headers']) }
  const place = at(params['extra_headers'] == null ? 'headers' : 'extra_headers')
  const organization = textOf(params['organization'])
  const entries = Object.entries(
    organization === undefined ? given : { ...given, 'OpenAI-Organization': organization },
  )
  const headers = entries.flatMap(([name, value]) => {
    const text = textOf(value)
    if (text === undefined || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || !/^[\x20-\x7e]*$/.test(text)) {
      notes.leave(place, `header ${name}`, 'no valid header')
      return []
    }
    const isSecret = SECRET_HEADER.test(name) && variableOf(text) === undefined
    const kept = isSecret ? variables.secret(`${wish}_${name}`, text, place) : plainOf(text, place, variables)
    return [[name, kept ?? '']]
  })
  return headers.length === 0 ? undefined : (Object.fromEntries(headers) as Record<string, string>)
}
