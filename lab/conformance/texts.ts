/** What the clients embed. Each list has a name, so that a client is sent it once however many cases use it. */

const unusual = [
  'Straße, naïve café, Ελλάδα, Привет',
  '日本語のテキスト、句読点つき。',
  'مرحبا بالعالم and back again',
  'family 👨‍👩‍👧‍👦, flag 🇬🇷, skin tone 👍🏽',
  'e\u0301 is not é to a tokenizer',
  'quotes " and \\ backslashes \\" and / slashes',
  'tabs\tand\nnewlines\r\nand  two spaces',
  '  leading and trailing  ',
  '\u00a0no-break space, zero\u200bwidth space',
  '\ufeffa byte order mark at the start and \ufeff inside',
  '{"model":"other","input":["not","parsed"]}',
  '<b>html</b> &amp; entities',
  '0',
  'x',
  '-1e999 NaN null true',
]

const sentence = 'The harbour master wrote down every ship that passed the gate between dusk and dawn. '

/** Up to about 6,000 characters: below the 8,191 tokens at which LangChain for Python averages pieces of a text. */
const long = Array.from({ length: 12 }, (_, index) => `Log ${index}: ${sentence.repeat(index * 6 + 1)}`)
const longJapanese = '夜明けまでに門を通った船をすべて書きとめた。'.repeat(90)

const numbered = Array.from(
  { length: 54 },
  (_, index) => `Ship number ${index} carried ${index * 37} barrels.`,
)

const distinct = [...unusual, ...long, longJapanese, ...numbered]
const repeated = [...distinct.slice(0, 12), ...distinct.slice(20, 26), ...distinct.slice(0, 2)]

/** Token arrays of cl100k_base, and the texts they stand for. The second ends inside a character, as cut texts do. */
const tokenized: readonly (readonly [tokens: number[], text: string])[] = [
  [[9906, 1917], 'Hello world'],
  [[9906, 220, 9468], 'Hello \ufffd'],
  [[9468, 99, 239], '🦑'],
  [[3305, 66976], '\ufeffstarts'],
  [[9906, 1917], 'Hello world'],
]

/** 37 has no divisor in common with the length (102), so every entry is met once, far from its neighbours. */
function spread(list: readonly string[]): string[] {
  return list.map((_, index) => list[(index * 37) % list.length] as string)
}

export const lists = {
  /** Duplicates, scripts, lengths. */
  mixed: spread([...distinct, ...repeated]),
  few: [...unusual.slice(0, 10), sentence, sentence],
  two: ['first text', 'second text'],
  /** The most one request may carry. */
  many: Array.from({ length: 2048 }, (_, index) => `Entry ${index}`),
  tooMany: Array.from({ length: 2049 }, (_, index) => `Entry ${index}`),
  /** 2.9 MB of text: more than a server with a 2 MB cap takes at once. */
  heavy: Array.from({ length: 400 }, (_, index) => `Volume ${index}: ${sentence.repeat(84)}`),
  withEmpty: ['first text', ''],
  tokens: tokenized.map(([tokens]) => tokens),
} satisfies Record<string, string[] | number[][]>

export type ListName = keyof typeof lists

/** The texts of a list, whose vectors are the right answer. */
export function textsIn(name: ListName): readonly string[] {
  return name === 'tokens' ? tokenized.map(([, text]) => text) : lists[name]
}
