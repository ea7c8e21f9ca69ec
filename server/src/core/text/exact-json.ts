/**
 * Numbers as they were written, where JavaScript would write another one: seeds of 64 bits, `1.0`, `1e400`. They are passed
 * on in fields that Torana does not know.
 */

/** Available in every current engine, but missing in the compiler's own types. */
interface ExactJson {
  /** `JSON.stringify` writes it as this text. */
  rawJSON(text: string): object
  isRawJSON(value: unknown): boolean
  parse(
    text: string,
    reviver: (name: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown
}
const exactJson = JSON as unknown as ExactJson

export function isExactNumber(value: unknown): boolean {
  return exactJson.isRawJSON(value)
}

/** Like `JSON.parse`, except for the numbers that it would change. */
export function parseExactly(text: string): unknown {
  return exactJson.parse(text, (_, value, { source }) =>
    typeof value === 'number' && source !== undefined && source !== JSON.stringify(value)
      ? exactJson.rawJSON(source)
      : value,
  )
}

/** Matches every number that JavaScript would change. Texts may match too. */
const MAY_CHANGE = /\d[.eE]|\d{16}/

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
/** `{` and `[` count as one, and so do their ends. */
const OPEN = 0x7b
const CLOSE = 0x7d
const BACKSLASH = 0x5c

/** By byte: what it is outside of texts, or 0. */
const MARKS = new Uint8Array(256)
for (const mark of [QUOTE, COMMA, COLON, OPEN, CLOSE]) MARKS[mark] = mark
MARKS[0x5b] = OPEN
MARKS[0x5d] = CLOSE

/**
 * The fields of a JSON object whose numbers may change when they are parsed, as texts by name, without `known`. The bytes
 * have been parsed before, so they are JSON. As in the parser, the last field of a name counts.
 */
export function exactFieldTexts(
  bytes: Uint8Array,
  known: ReadonlySet<string>,
  textOf: (start: number, end: number) => string,
): Record<string, string> | undefined {
  let texts: Record<string, string> | undefined
  for (const { name, start, end } of fieldsIn(bytes, textOf)) {
    const text = known.has(name) ? '' : textOf(start, end)
    if (MAY_CHANGE.test(text)) {
      // Without a prototype, a field called `__proto__` is a field like any other.
      texts ??= Object.create(null) as Record<string, string>
      texts[name] = text
    } else if (texts !== undefined) delete texts[name]
  }
  return texts
}

/** A field of a JSON object, and the bytes of its value, with the white space around it. */
export interface JsonField {
  readonly name: string
  readonly start: number
  readonly end: number
}

/** The fields of a JSON object in their order. The bytes are JSON. */
export function fieldsIn(
  bytes: Uint8Array,
  textOf: (start: number, end: number) => string,
): readonly JsonField[] {
  const fields: JsonField[] = []
  let depth = 0
  let name: string | undefined
  let start = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const mark = MARKS[bytes[at] as number]
    if (mark === 0) continue
    if (mark === QUOTE) {
      const quote = at
      at = textEnd(bytes, at + 1)
      if (depth === 1 && name === undefined) name = JSON.parse(textOf(quote, at + 1)) as string
    } else if (mark === OPEN) depth += 1
    else if (mark === COLON) {
      if (depth === 1) start = at + 1
    } else {
      if (mark === CLOSE) depth -= 1
      if (depth !== (mark === COMMA ? 1 : 0) || name === undefined) continue
      fields.push({ name, start, end: at })
      name = undefined
    }
  }
  return fields
}

/** The position of the closing quote. Searched, not walked: most of a large body is in a few long texts. */
function textEnd(bytes: Uint8Array, start: number): number {
  for (let at = bytes.indexOf(QUOTE, start); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    let backslashes = 0
    while (at - backslashes > start && bytes[at - backslashes - 1] === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return at
  }
  return bytes.length
}

/** The values of such texts. */
export function exactFields(
  texts: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, unknown>> | undefined {
  if (texts === undefined) return undefined
  const fields = Object.create(null) as Record<string, unknown>
  for (const name in texts) fields[name] = parseExactly(texts[name] as string)
  return fields
}
