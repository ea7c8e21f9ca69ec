/** Plain product English on every screen. Each rule forbids one habit; the reason says what to write instead. */
import { test } from 'node:test'
import assert from 'node:assert/strict'
import * as en from './en.ts'

interface Rule {
  readonly habit: RegExp
  readonly instead: string
}

const UNIT = '(?:second|minute|hour|day|week|month|call|million|megapixel|image|text|token|vector|request)'
const COUNTED =
  '(?:requests?|calls?|inputs?|texts?|tokens?|images?|lines?|dollars?|limits?|records?|events?|once|twice|times|…|\\d)'

const RULES: readonly Rule[] = [
  {
    habit: new RegExp(
      `^an? ${UNIT}(?: (?:(?:in|out)put )?tokens)?$|(?<!\\p{L})${COUNTED} an? ${UNIT}\\b`,
      'iu',
    ),
    instead: 'a rate is per second, /min, per 1M tokens, per image',
  },
  { habit: /\bpictures?\b/i, instead: 'image, input image; for the switch of a chart: Chart and Table' },
  {
    habit:
      /\blook(?:s|ed)? (?:now|again|at|back|further)\b|\b(?:last|latest|first|good) looks?\b|(?:\d|…) looks?\b|\bprobed\b|\bcompare(?:d)? (?:now|all|with its space)\b|\bnot compared\b/i,
    instead: 'one act has one word: check',
  },
  {
    habit: /\bstand(?:s|ing)?\b/i,
    instead: 'is recorded in, is defined in, is taking its traffic, covering',
  },
  {
    habit: /\b(?:told|tells|only tell|sa(?:ys?|id)|nobody|somebody|anybody|whoever|whom)\b/i,
    instead: 'reports, returns, alert sent, not set; the actor is a caller, an operator, an admin',
  },
  {
    habit:
      /\b(?:ill|unwell|mend(?:s|ed)?|anew|books?|away|under way|for good|for ever|at present|dearer|no room|has room|a turn|comes? (?:back|home)|go(?:es|ing)? on|wait(?:s|ed)? for a turn|let go|took back|taken back)\b/i,
    instead:
      'unhealthy, fix, again, ledger, unreachable, in progress, permanently, at capacity, queued, released, continues',
  },
  {
    habit:
      /^its? (?:own )?(?:requests?|waterfall|trace|keys|data|vectors?|budget)$|^(?:\w+ )?(?:of (?:it|them)\b)|^(?:make|paint|erase|store|save|change|forget|show|hide|load|open|use|run) (?:it|them)(?: again)?$|\bnothing of it\b|\bof (?:it|them) (?:leased|failed|cached)\b/i,
    instead: 'a label names the thing: View request, held by nodes, Save',
  },
  { habit: /(?:\d|…) %/, instead: '12%, without a space' },
  { habit: /\bso (?:many|long|often|much|few)\b/i, instead: 'say the amount' },
]

/** What an entry shows: a string, or the strings within a function, with `…` where a value goes. */
function textsOf(entry: unknown): readonly string[] {
  if (typeof entry === 'string') return [entry]
  if (typeof entry === 'function') return literalsIn(String(entry))
  return Object.values(entry ?? {}).flatMap(textsOf)
}

/** String literals of a function's source; those within a template's value count on their own. */
function literalsIn(source: string): readonly string[] {
  const found: string[] = []
  let at = 0
  const quoted = (quote: string): void => {
    let text = ''
    for (at++; at < source.length && source[at] !== quote; at++) {
      if (source[at] === '\\') text += source[++at]
      else if (quote === '`' && source.startsWith('${', at)) {
        at += 2
        code('}')
        text += '…'
      } else text += source[at]
    }
    found.push(text)
  }
  const code = (end: string): void => {
    for (let depth = 0; at < source.length; at++) {
      const letter = source[at] ?? ''
      if (letter === end && depth === 0) return
      if (letter === '{') depth++
      else if (letter === '}') depth--
      else if (`'"\``.includes(letter)) quoted(letter)
    }
  }
  code('')
  // A name in brackets is no text: `f['stands_in']`.
  return found.filter((text) => !/^[a-z]+(?:_[a-z]+)+$/.test(text))
}

function habitsIn(words: unknown): readonly string[] {
  return textsOf(words).flatMap((text) =>
    RULES.filter(({ habit }) => habit.test(text)).map(({ instead }) => `“${text}”: ${instead}`),
  )
}

test('no text on a screen has a habit that reads like a translation', () => {
  assert.ok(textsOf(en).length > 2000, 'found too few texts: the check would pass vacuously')
  assert.deepEqual(habitsIn(en), [])
})

for (const text of [
  'A minute',
  '20 requests a second',
  'Add a picture',
  'Look now',
  'worst of 3 looks',
  'Stands in the audit beside your name.',
  '80 % told',
  'nobody says',
  'waiting for a turn',
  'something ill',
  'Its request',
  'Paint it',
  'of it leased to nodes',
  '50, 80 and 100 %',
  'PostgreSQL is away',
])
  test(`the check notices “${text}”`, () => assert.notDeepEqual(habitsIn({ text }), []))

test('the check reads what functions show', () => {
  const entries = {
    rate: (n: number) => `${n} calls a second`,
    within: (n: number) => (n === 1 ? 'a picture' : `${n} pictures`),
    fine: (f: Record<string, string>) => `${f['stands_in']} is taking its traffic.`,
  }
  assert.deepEqual(
    habitsIn(entries).map((found) => found.split('”')[0]),
    ['“… calls a second', '“a picture', '“… pictures'],
  )
})

for (const text of [
  'Connecting a provider takes a minute and needs no restart.',
  'Turn off single sign-on?',
  'An image is generated once.',
  'Compare with',
  'A budget applies to a project or a key, per day, week, month or in total.',
  'This link was already used or is older than a day.',
  'Still serving.',
])
  test(`the check lets “${text}” be`, () => assert.deepEqual(habitsIn({ text }), []))
