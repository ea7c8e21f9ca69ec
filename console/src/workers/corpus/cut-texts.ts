/** The longest beginnings of texts that a model reads, found by counting tokens of a few beginnings. Pure, tested. */

type CountTokens = (texts: readonly string[]) => Promise<readonly number[]>

/** A beginning with this share of the most tokens is long enough: each further round counts all texts again. */
const FULL_ENOUGH = 0.98
const MAX_ROUNDS = 24

interface Bracket {
  readonly text: string
  /** Characters of the longest beginning that is known to fit, and its tokens. */
  fits: number
  fitsTokens: number
  /** Characters of the shortest beginning that is known to be too long, and its tokens. */
  tooLong: number
  tooLongTokens: number
}

/** Characters to keep of each text. `counts`: the tokens of each text as a whole. */
export async function cutTexts(
  texts: readonly string[],
  counts: readonly number[],
  maxTokens: number,
  count: CountTokens,
): Promise<readonly number[]> {
  const brackets = texts.map((text, index): Bracket => {
    const tokens = counts[index] ?? 0
    return tokens <= maxTokens
      ? { text, fits: text.length, fitsTokens: maxTokens, tooLong: text.length + 1, tooLongTokens: Infinity }
      : { text, fits: 0, fitsTokens: 0, tooLong: text.length, tooLongTokens: tokens }
  })
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const open = brackets.filter((one) => isOpen(one, maxTokens))
    if (open.length === 0) break
    const guesses = open.map((one) => (round % 3 === 2 ? middle(one) : guess(one, maxTokens)))
    const tokens = await count(open.map(({ text }, index) => text.slice(0, guesses[index])))
    for (const [index, one] of open.entries()) narrow(one, guesses[index] ?? 0, tokens[index] ?? 0, maxTokens)
  }
  return brackets.map(({ text, fits }) => wholeCharacters(text, fits))
}

function isOpen({ fits, fitsTokens, tooLong }: Bracket, maxTokens: number): boolean {
  return fitsTokens < maxTokens * FULL_ENOUGH && tooLong - fits > 1
}

/** As if all characters between the two had equally many tokens; a little less, since one that fits ends the search. */
function guess({ fits, fitsTokens, tooLong, tooLongTokens }: Bracket, maxTokens: number): number {
  const wanted = maxTokens * ((1 + FULL_ENOUGH) / 2) - fitsTokens
  const share = Math.max(0, wanted) / (tooLongTokens - fitsTokens)
  return Math.min(tooLong - 1, Math.max(fits + 1, fits + Math.floor((tooLong - fits) * share)))
}

/** Where the tokens are far from equally many, only halving makes sure of progress. */
function middle({ fits, tooLong }: Bracket): number {
  return Math.floor((fits + tooLong) / 2)
}

function narrow(bracket: Bracket, characters: number, tokens: number, maxTokens: number): void {
  if (tokens <= maxTokens) {
    bracket.fits = characters
    bracket.fitsTokens = tokens
  } else {
    bracket.tooLong = characters
    bracket.tooLongTokens = tokens
  }
}

/** A pair of surrogates is one character. */
function wholeCharacters(text: string, characters: number): number {
  const isCut = characters < text.length && /[\uD800-\uDBFF]$/.test(text.slice(0, characters))
  return isCut ? characters - 1 : characters
}
