/** Plain words: comments and identifiers that a reader understands at the first reading. */
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const REPOSITORY = join(import.meta.dirname, '../..')
/** The console has its own glossary, and a test for it. */
const FOLDERS = ['server', 'bulk', 'lab', 'import-litellm']

/** Each reads like a riddle: it hides the actor, the amount or the thing that is meant. With what to write instead. */
const BANNED: readonly (readonly [RegExp, string])[] = [
  [/\bso (?:many|long|often|much)\b/gi, 'hides the amount: name it'],
  [/\b(?:whoever|whom|nobody|somebody)\b/gi, 'hides the actor: caller, operator, admin'],
  [/\banew\b/gi, 'again'],
  [/\bmend(?:s|ed|ing)?\b/gi, 'fix'],
  [/\bill\b/gi, 'hides what is wrong: unreachable, down, unhealthy'],
  [/\btold\b/gi, 'hides how: reported, shown, printed'],
  [/\bbooks\b/gi, 'ledger'],
]
const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm
const STRING = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g
const IDENTIFIER = /[A-Za-z_$][\w$]*/g

/** A comment's words, without the asterisks at the beginnings of its lines. */
function wordsOf(comment: string): string {
  return comment.replaceAll(/\s*\n\s*\*?\s*/g, ' ')
}

/** `maxTextsTold` → `max Texts Told`, `MOST_TOLD` → `MOST TOLD`. */
function wordsIn(identifier: string): string {
  return identifier.replaceAll('_', ' ').replaceAll(/([a-z\d])(?=[A-Z])/g, '$1 ')
}

interface Riddle {
  readonly word: string
  readonly instead: string
}

function bannedIn(text: string): Riddle[] {
  const comments = (text.match(COMMENT) ?? []).map(wordsOf)
  const code = text.replaceAll(COMMENT, '').replaceAll(STRING, "''")
  const identifiers = (code.match(IDENTIFIER) ?? []).map(wordsIn)
  return [...comments, ...identifiers].flatMap((words) =>
    BANNED.flatMap(([pattern, instead]) => (words.match(pattern) ?? []).map((word) => ({ word, instead }))),
  )
}

/** Two prefixes for one thing were a riddle too. */
function otherMaxima(text: string): string[] {
  return [...new Set(text.match(/\bMOST_[A-Z_]+/g))]
}

function sources(): { readonly path: string; readonly text: string }[] {
  const listed = execFileSync('git', ['ls-files', ...FOLDERS], { cwd: REPOSITORY, encoding: 'utf8' })
  return listed
    .split('\n')
    .filter((path) => /\.(ts|mjs|js)$/.test(path) && !/(tidy|docs)-words\.test\.ts$/.test(path))
    .map((path) => ({ path, text: readFileSync(join(REPOSITORY, path), 'utf8') }))
}

/** Each line of a failure names the file, the rule, and what to write instead. */
function assertPlain(errors: readonly string[]): void {
  assert.ok(errors.length === 0, `\n${errors.join('\n')}\n(CONTRIBUTING.md, Style)`)
}

test('comments and identifiers hold no word that reads like a riddle', () => {
  const all = sources()
  assert.ok(all.length > 500, 'found too few sources: the check would pass vacuously')
  assertPlain(
    all.flatMap(({ path, text }) =>
      bannedIn(text).map(({ word, instead }) => `${path}: a comment or name says "${word}" → ${instead}`),
    ),
  )
})

test('a maximum is called MAX_', () => {
  assertPlain(
    sources().flatMap(({ path, text }) =>
      otherMaxima(text).map(
        (name) => `${path}: ${name} → a maximum is called ${name.replace('MOST_', 'MAX_')}`,
      ),
    ),
  )
  assert.deepEqual(otherMaxima('const MOST_TEXTS = 1'), ['MOST_TEXTS'])
})

for (const [kind, text, found] of [
  ['comment', '/** Waits so long that nobody asks. */', ['so long', 'nobody']],
  ['comment over two lines', '/**\n * As so\n * many\n */', ['so many']],
  ['comment behind code', 'const a = 1 // told before', ['told']],
  ['identifier', 'const toldAt = 1', ['told']],
  ['constant', 'const MAX_TOLD = 1', ['TOLD']],
] as const)
  test(`tidy itself notices a riddle in a ${kind}`, () =>
    assert.deepEqual(
      bannedIn(text).map(({ word }) => word),
      found,
    ))

for (const [kind, text] of [
  ['the texts of errors', "throw new Error('nobody was told')"],
  ['longer words', '/** It recommends what will fill the skill. */ const untold = recommended'],
  ['addresses', "const url = 'https://told.example'"],
] as const)
  test(`tidy lets ${kind} be`, () => assert.deepEqual(bannedIn(text), []))
