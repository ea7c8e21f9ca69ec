/** Rows about one key, told by its hash, are one: its text may come from another file than its settings. */
import { createHash } from 'node:crypto'
import { textOf } from './litellm-read.ts'
import type { Row } from './litellm-rows.ts'
import type { Place } from './notes.ts'

/** The text of a key. */
export interface Secret {
  readonly text: string
  readonly place: Place
}

export interface JoinedRow extends Row {
  /** Undefined when all that is known is its hash. */
  readonly secret: Secret | undefined
  /** Whether any row says more of it than its text. */
  readonly isDescribed: boolean
}

/** Columns that an export of LiteLLM's table has, and a plain list of keys has not. */
const DESCRIPTIONS = ['key_alias', 'key_name', 'team_id', 'user_id', 'models', 'expires', 'spend']

export function joinRows(rows: readonly Row[]): JoinedRow[] {
  const joined = new Map<string, JoinedRow>()
  rows.forEach(({ place, fields }, index) => {
    const given = [fields['key'], fields['token'], fields['api_key']].flatMap((value) => textOf(value) ?? [])
    const text = given.find((word) => !isHash(word) && !isMasked(word))
    const id = text === undefined ? (given.find(isHash) ?? `row ${index}`) : sha256(text)
    const before = joined.get(id)
    const said = Object.entries(fields).filter(
      ([, value]) => value !== undefined && value !== null && value !== '',
    )
    const isDescribed = DESCRIPTIONS.some((name) => Object.hasOwn(fields, name))
    joined.set(id, {
      place: before && !isDescribed ? before.place : place,
      fields: { ...before?.fields, ...Object.fromEntries(said) },
      secret: text === undefined ? before?.secret : { text, place },
      isDescribed: isDescribed || before?.isDescribed === true,
    })
  })
  return [...joined.values()]
}

function isHash(text: string): boolean {
  return /^[0-9a-f]{64}$/i.test(text)
}

/** `sk-...abcd`, as LiteLLM shows keys. */
function isMasked(text: string): boolean {
  return /\.{3}|…|\*{3}/.test(text)
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
