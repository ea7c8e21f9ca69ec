/** Pages are short, in plain words, with one noun per thing, and make no promise about a later version. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  docsPages,
  exampleTexts,
  handWrittenWords,
  isGenerated,
  REPOSITORY,
  wordsOf,
} from '#test/support/docs-pages.ts'
import { figureIdsOf, readFeatures, type Figures } from '../../../lab/book/fill.ts'
import { PROGRAMS } from '../../../lab/programs.ts'

/** Words that a page may have, code blocks included: more than this, and its reader does not find the answer. */
const MAX_WORDS: Readonly<Record<string, number>> = {
  'README.md': 1100,
  'docs/README.md': 720,
  'docs/quick-start.md': 1000,
  'docs/install.md': 800,
  'docs/connect-your-sdk.md': 1100,
  'docs/embeddings.md': 1400,
  'docs/embed-images.md': 1150,
  'docs/smaller-vectors.md': 1000,
  'docs/images.md': 1700,
  'docs/edits.md': 1800,
  'docs/image-jobs.md': 1300,
  'docs/batches.md': 2200,
  'docs/webhooks.md': 700,
  'docs/headers.md': 1010,
  'docs/recipes/pgvector.md': 650,
  'docs/recipes/qdrant.md': 500,
  'docs/recipes/apps.md': 700,
  'docs/recipes/frameworks.md': 650,
  'docs/recipes/re-embed.md': 550,
  'docs/recipes/lake.md': 200,
  'docs/moving-from-litellm.md': 1300,
  'docs/upstreams.md': 1700,
  'docs/routing.md': 2150,
  'docs/caching.md': 1200,
  'docs/access.md': 2100,
  'docs/one-machine.md': 1300,
  'docs/many-nodes.md': 2000,
  'docs/kubernetes.md': 700,
  'docs/sizing.md': 1200,
  'docs/storage.md': 1100,
  'docs/lake.md': 450,
  'docs/backup.md': 1200,
  'docs/security.md': 800,
  'docs/alerts.md': 700,
  'docs/monitoring.md': 890,
  'docs/on-call.md': 3260,
  'docs/billing.md': 1600,
  'docs/prices.md': 1150,
  'docs/reports.md': 700,
  'docs/console.md': 1900,
  'docs/promises.md': 900,
  'docs/space-guard.md': 2240,
  'docs/benchmarks.md': 500,
  'docs/comparison.md': 1000,
  'docs/glossary.md': 550,
}
/** Of all pages together: one person reads that in a working day. */
const MAX_WORDS_OF_ALL = 50_500

/** Each pattern with what to write instead. */
const BANNED: readonly (readonly [RegExp, string])[] = [
  [/\bso (?:many|long|often|much)\b/gi, 'name the amount'],
  [/\b(?:whoever|whom|nobody|somebody|anybody)\b/gi, 'name the actor: caller, operator, admin'],
  [/\banew\b|\bfor ever\b/gi, 'again, permanently'],
  [/\bmend(?:s|ed|ing)?\b/gi, 'fix'],
  [/\btold\b/gi, 'report, show, print'],
  [/\b(?:is|are|was|were) (?:away|ill)\b/gi, 'unreachable, down, unhealthy'],
  [/\bbooks\b/gi, 'ledger'],
  [/\bpictures?\b/gi, 'image, or chart'],
  [/\bprocessor\b/gi, 'CPU'],
  [/\btime-outs?\b/gi, 'timeout'],
  [/\b(?:can|won|don|doesn|isn|aren)['’]t\b/gi, 'cannot, do not'],
  [/\d[\w.,%]*(?: [a-z]+){0,2} an? (?:second|minute|hour|day|month)\b/gi, 'per second'],
  [/\bunder way\b/gi, 'in progress'],
  [/\bstand(?:s|ing)? (?:in|at|for|before|behind|beside|on|above|below)\b/gi, 'is in, is at, comes before'],
  [/\b(?:is|are) not there\b/gi, 'does not exist'],
  [/\bof (?:its|their|your) own\b/gi, 'its own …'],
  [/\bbeside\b/gi, 'alongside, next to, compared with'],
  [
    /\b(?:an earlier version|before this change|since this was measured)\b/gi,
    'history belongs in the changelog',
  ],
  [/\b(?:not reached|the aim)\b/gi, 'aims belong in the lab’s notes'],
]

/** What a reader may expect of a later version is listed in docs/features.yaml, and nowhere else. */
const LATER = /\bnot yet\b|\bno \w+ yet\b|\bnot planned\b|\bthere (?:is|are) no\b/gi

const pages = docsPages().filter((page) => !isGenerated(page))
const examples = exampleTexts()

function problemsOf(text: string): readonly string[] {
  const words = wordsOf(text).replaceAll(/\s+/g, ' ')
  return [
    ...BANNED.flatMap(([pattern, instead]) =>
      (words.match(pattern) ?? []).map((found) => `${found} → ${instead}`),
    ),
    ...(words.match(LATER) ?? []).map(
      (found) => `${found} → a row of docs/features.yaml, or state what Torana does`,
    ),
  ]
}

for (const { path, text } of pages) {
  test(`${path} is in plain words`, () => assert.deepEqual(problemsOf(text), []))

  test(`${path} keeps within its words`, () => {
    const max = MAX_WORDS[path]
    assert.ok(max !== undefined, `give ${path} a number of words in this file`)
    const count = handWrittenWords(text, examples)
    assert.ok(count <= max, `${count} words, ${max} allowed`)
  })

  test(`${path} has one short title, and a next step`, () => {
    const titles = [...text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/^# (.+)$/gm)].map(
      ([, title = '']) => title,
    )
    const [title = ''] = titles
    assert.equal(titles.length, 1)
    assert.ok(title.split(' ').length <= 7, title)
    if (path.startsWith('docs/') && path !== 'docs/README.md')
      assert.match(text.trimEnd().split('\n').at(-1) ?? '', /^Next: \[[^\]]+\]\([^)]+\)/)
  })
}

test('all pages together keep within their words', () => {
  const count = pages.reduce((sum, { text }) => sum + handWrittenWords(text, examples), 0)
  assert.ok(count <= MAX_WORDS_OF_ALL, `${count} words, ${MAX_WORDS_OF_ALL} allowed`)
})

test('every page with a number of words exists', () => {
  assert.deepEqual(
    Object.keys(MAX_WORDS).filter((path) => !pages.some((page) => page.path === path)),
    [],
  )
})

const read = (path: string): string => readFileSync(join(REPOSITORY, path), 'utf8')

test('a feature that Torana has names its page and the test that fails without it', () => {
  const features = readFeatures(read('docs/features.yaml'))
  assert.ok(features.length > 10, 'found too few features: the check would pass vacuously')
  const isLost = (path: string | undefined): boolean =>
    path === undefined || !existsSync(join(REPOSITORY, path))
  assert.deepEqual(
    features.filter(({ has, page, test: proof }) => has && (isLost(page && `docs/${page}`) || isLost(proof))),
    [],
  )
})

/** Days after which a measurement or a look at another gateway is old: they release every two weeks. */
const OLD_DAYS = 60
const DAY_MS = 86_400_000
const ageDays = (date: string): number => Math.floor((Date.now() - Date.parse(date)) / DAY_MS)

test('figures say when they were measured; old ones warn', (context) => {
  const figures = JSON.parse(read('docs/figures.json')) as Figures
  const used = new Set(pages.flatMap(({ text }) => figureIdsOf(text)))
  for (const [id, figure] of Object.entries(figures)) {
    if (!('date' in figure)) continue
    const { date, commit, program } = figure
    assert.match(date, /^\d{4}-\d\d-\d\d$/, id)
    assert.match(commit, /^[0-9a-f]{7,40}$/, id)
    assert.ok(Object.hasOwn(PROGRAMS, program), `${id}: no program ${program}`)
    if (used.has(id) && ageDays(date) > OLD_DAYS)
      context.diagnostic(`${id} is ${ageDays(date)} days old: measure it again`)
  }
})

test('the comparison says when it was read; an old one warns', (context) => {
  const [, date = ''] = /Read and run on (\d{4}-\d\d-\d\d)/.exec(read('docs/comparison.md')) ?? []
  assert.match(date, /^\d{4}/, 'docs/comparison.md says "Read and run on <date>"')
  if (ageDays(date) > OLD_DAYS)
    context.diagnostic(`docs/comparison.md is ${ageDays(date)} days old: read the others again`)
})

for (const planted of [
  'Records wait while PostgreSQL is away.',
  'It serves 1,000 requests a second.',
  'The message has the command that mends it.',
  'Pictures are kept for a day.',
  'There is no bulk interface yet.',
  'Redis Cluster is not planned.',
  'You can’t dismiss one.',
])
  test(`a planted sentence is found: ${planted}`, () => assert.notDeepEqual(problemsOf(planted), []))

for (const fine of [
  'Torana waits a second, then calls again.',
  'Set `picture` to `true`, see [the list](pictures/one.png).',
  'Torana does not retry a paid call.',
])
  test(`plain words pass: ${fine}`, () => assert.deepEqual(problemsOf(fine), []))
