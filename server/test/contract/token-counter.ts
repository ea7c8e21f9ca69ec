/** What every `TokenCounter` promises, wherever it counts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countTokens, encode } from 'gpt-tokenizer/encoding/cl100k_base'
import ranks from 'gpt-tokenizer/bpeRanks/cl100k_base'
import type { CountAsker, TokenCounter } from '#ports/tokens.ts'
import { LONGEST_TOKEN_BYTES } from '#request/embeddings/inputs.ts'
import { longestRoundMs } from '#test/support/loop-watch.ts'

const plain = { disallowedSpecial: new Set<string>() }

/** Made to be slow for byte-pair encoding, which is quadratic in the length of an unbroken run. */
export const hostileTexts: Readonly<Record<string, string>> = {
  '200,000 × a': 'a'.repeat(200_000),
  '40,000 Chinese characters': '人工智能正在改变世界的方方面面今天天气很好'.repeat(2000).slice(0, 40_000),
  '200,000 spaces': ' '.repeat(200_000),
  '100,000 emoji': '😀'.repeat(100_000),
  '200,000 line ends': '\n'.repeat(200_000),
  '200,000 digits': '1234567890'.repeat(20_000),
  'emoji and ASCII signs, one run to the tokenizer': '😀!'.repeat(60_000),
  'signs within and beyond ASCII': '!¡'.repeat(100_000),
  'spaces within and beyond ASCII': ' \u00a0'.repeat(100_000),
  'half surrogates': '\ud83d'.repeat(200_000),
}

const ASKER: CountAsker = { project: 'p', timeoutMs: 600_000, most: Infinity }

/** CPU time. Loading the ranks comes first; then no text takes more than this. */
const MAX_COUNT_MS = 3000
/** CPU time of one turn of the event loop: too short to notice. */
const MAX_ROUND_MS = 50

export function tokenCounterSuite(name: string, counter: TokenCounter): void {
  const countOf = async (text: string): Promise<number> =>
    (await counter.count([text], 'cl100k_base', ASKER))[0]?.tokens ?? Number.NaN

  test(`${name}: known figures`, async () => {
    assert.equal(await countOf('The quick brown fox jumped over the lazy dog'), 9)
    assert.equal(await countOf(''), 0)
    assert.equal(await countOf('hello world'), 2)
    assert.equal(await countOf('tiktoken is great!'), 6)
    assert.equal(await countOf('お誕生日おめでとう'), 9)
  })

  test(`${name}: one count per text, in order, each marked as exact`, async () => {
    const texts = ['one', 'one two three', '', 'Grüße an 漢字 und 😀', 'x = 1\n\n\ty = 2']
    assert.deepEqual(
      await counter.count(texts, 'cl100k_base', ASKER),
      texts.map((text) => ({ tokens: countTokens(text, plain), exact: true })),
    )
  })

  test(`${name}: names of special tokens in a text are words like any other`, async () => {
    for (const text of ['<|endoftext|>', 'a <|fim_prefix|> b', '<|im_start|>system<|im_end|>']) {
      assert.equal(await countOf(text), countTokens(text, plain))
    }
  })

  test(`${name}: a text that had to be cut is never counted too low, nor more than 2 % too high`, async () => {
    const sentence = 'Torana is a gateway arch; its promises are tests that can fail. '
    for (const text of [
      sentence.repeat(60) + 'x'.repeat(300),
      '今天天气很好，我们一起去公园散步吧。'.repeat(100),
      `${'-'.repeat(400)}\n${sentence.repeat(40)}`,
    ]) {
      const [count] = await counter.count([text], 'cl100k_base', ASKER)
      const truth = countTokens(text, plain)
      assert.equal(count?.exact, false)
      assert.ok(
        count.tokens >= truth && count.tokens <= truth * 1.02 + 1,
        `${count.tokens} instead of ${truth}`,
      )
    }
  })

  for (const [title, text] of Object.entries(hostileTexts)) {
    test(`${name}: ${title} are counted in bounded time, and the event loop goes on`, async () => {
      await counter.count(['warm'], 'cl100k_base', ASKER)
      const before = process.cpuUsage()
      const tokens = await countOf(text)
      const { user, system } = process.cpuUsage(before)
      assert.ok(tokens > 0 && tokens <= Buffer.byteLength(text))
      assert.ok(user + system <= MAX_COUNT_MS * 1000, `took ${(user + system) / 1000} ms`)
      const longestMs = await longestRoundMs(MAX_ROUND_MS, () => countOf(text))
      assert.ok(longestMs < MAX_ROUND_MS, `held for ${longestMs} ms`)
    })
  }

  test(`${name}: many questions at once each get their own answer`, async () => {
    const texts = Array.from({ length: 200 }, (_, index) => 'word '.repeat(index + 1))
    const counts = await Promise.all(texts.map(countOf))
    assert.deepEqual(
      counts,
      texts.map((text) => countTokens(text, plain)),
    )
  })

  test(`${name}: token ids give back the text they were made of`, async () => {
    const texts = ['hello world', 'Grüße', '漢字仮名', '😀👩‍👩‍👧', '\ufeffmark', 'a\n\n\n  b', '<|endoftext|>']
    const ids = texts.map((text) => encode(text, plain))
    assert.deepEqual(await counter.decode(ids, 'cl100k_base', ASKER), texts)
    assert.deepEqual(
      await counter.decode(
        ids.map((list) => Uint32Array.from(list)),
        'cl100k_base',
        ASKER,
      ),
      texts,
    )
  })

  test(`${name}: an unknown id spoils its own array, no other`, async () => {
    const hello = encode('hello')
    assert.deepEqual(
      await counter.decode([hello, [...hello, 500_000], [2 ** 31 - 1], hello], 'cl100k_base', ASKER),
      ['hello', undefined, undefined, 'hello'],
    )
  })

  test(`${name}: 100,000 ids are decoded while the event loop goes on`, async () => {
    const ids = Array.from({ length: 100_000 }, (_, index) => index % 100_000)
    const longestMs = await longestRoundMs(MAX_ROUND_MS, () => counter.decode([ids], 'cl100k_base', ASKER))
    assert.ok(longestMs < MAX_ROUND_MS, `held for ${longestMs} ms`)
  })

  test(`${name}: a long text is counted exactly where it has words, and its ids give it back`, async () => {
    const sentence =
      'Torana’s 2,048 inputs: "it can\'t fail", she said; 12345 times.\r\n\tfor (;;) { x += 1 } '
    const text = Array.from({ length: 1500 }, (_, index) => `${sentence}${index}`).join('')
    const ids = encode(text, plain)
    assert.deepEqual(await counter.count([text, 'a'], 'cl100k_base', ASKER), [
      { tokens: ids.length, exact: true },
      { tokens: 1, exact: true },
    ])
    const unknown = [...ids.slice(0, 40_000), 500_000]
    assert.deepEqual(await counter.decode([ids, unknown, encode('next')], 'cl100k_base', ASKER), [
      text,
      undefined,
      'next',
    ])
    // Characters of several tokens, wherever the steps end.
    const squids = [...encode('x'), ...Array.from({ length: 20_000 }, () => encode('🦑')).flat()]
    assert.deepEqual(await counter.decode([squids], 'cl100k_base', ASKER), [`x${'🦑'.repeat(20_000)}`])
  })

  test(`${name}: counting stops soon after as many tokens as anybody wants to know`, async () => {
    const text = 'word '.repeat(200_000)
    const [count, other] = await counter.count([text, 'one two'], 'cl100k_base', { ...ASKER, most: 100 })
    assert.equal(count?.exact, false)
    assert.ok(count.tokens > 100 && count.tokens < 10_000, `${count.tokens} tokens`)
    assert.deepEqual(other, { tokens: 2, exact: true })
  })

  test(`${name}: a neighbour does not wait for a long text`, async () => {
    const ended: string[] = []
    const asked = (project: string, text: string): Promise<unknown> =>
      counter.count([text], 'cl100k_base', { ...ASKER, project }).then(() => ended.push(project))
    const long = 'x'.repeat(400_000)
    const many = Array.from({ length: 3 }, () => asked('long', long))
    const ids = counter
      .decode([Array.from({ length: 2_000_000 }, () => 1917)], 'cl100k_base', { ...ASKER, project: 'ids' })
      .then(() => ended.push('ids'))
    await asked('short', 'word '.repeat(2000))
    assert.deepEqual(ended, ['short'])
    await Promise.all([...many, ids])
  })

  test(`${name}: the asker's time holds, also in the middle of a text`, async () => {
    const late = { name: 'ThreadBusy', kind: 'late' }
    const asker = { ...ASKER, timeoutMs: 30 }
    await assert.rejects(counter.count(['x'.repeat(4_000_000)], 'cl100k_base', asker), late)
    await assert.rejects(counter.decode([Array(8_000_000).fill(1)], 'cl100k_base', asker), late)
    assert.equal(await countOf('hello world'), 2)
  })

  test(`${name}: no token is longer than is said`, () => {
    const longest = ranks.reduce<number>((most, rank) => {
      const length = typeof rank === 'string' ? Buffer.byteLength(rank) : rank?.length
      return Math.max(most, length ?? 0)
    }, 0)
    assert.equal(longest, LONGEST_TOKEN_BYTES.cl100k_base)
  })
}
