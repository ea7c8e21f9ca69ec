/** Every file of tests, the part that it belongs to, and whether a change runs it or the proofs after its merge. */
import { globSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT: string = join(import.meta.dirname, '../..')

/** The first pattern that fits names the part. Names of parts are those of `npm test -- <part>`. */
const PARTS: readonly (readonly [part: string, files: RegExp])[] = [
  ['tidy', /^server\/test\/tidy/],
  // Of pages, files to deploy and workflows: what is no code.
  [
    'text',
    /^server\/test\/contract\/(?:docs-|examples|monitoring|secret-fingerprints|deploy-files|workflows)|^lab\/(?:book|tests)\//,
  ],
  ['contract', /^server\/test\/contract\//],
  ['batches', /^server\/test\/http\/batches\//],
  ['control', /^server\/test\/http\/control\//],
  ['http', /^server\/test\/http\//],
  ['simulation', /^server\/test\/simulation\//],
  ['e2e', /^server\/test\/e2e\//],
  ['console', /^console\/src\//],
  ['chaos', /^lab\/chaos\/(?:batches|images|stops)\/|^lab\/chaos\/smoke/],
  ['lab', /^(?:lab|import-litellm)\//],
  ['unit', /^(?:server\/(?:src|generate|build)|bulk\/src)\//],
]

/** What a user does first, and what may not be lost: of the tests of whole processes, a change runs these. */
const SMOKE =
  /^server\/test\/e2e\/(?:first-start|stores|reload|money\/(?:hard-budget|outcomes)|spaces\/quarantine|images\/lost|batches\/corpus)\.test\.ts$/

/** Half a minute of a core for the other engine, whose tests of stores a change runs as well. */
const LATER = /^server\/test\/contract\/database-pglite/

export interface TestFile {
  readonly path: string
  readonly part: string
  readonly when: 'change' | 'after-merge'
}

export function listTestFiles(): readonly TestFile[] {
  // Recipes have a program of their own.
  const patterns = ['{server,lab,bulk,import-litellm,console}/**/*.test.ts']
  const exclude = ['**/node_modules/**', '**/.cache/**', 'console/test/**', 'lab/recipes/**']
  return globSync(patterns, { cwd: ROOT, exclude }).toSorted().map(describeTestFile)
}

export function describeTestFile(path: string): TestFile {
  const [part] = PARTS.find(([, files]) => files.test(path)) ?? []
  if (part === undefined) throw new Error(`${path} belongs to no part of lab/tests/test-files.ts`)
  const isProcess = part === 'e2e' || part === 'chaos'
  const isLater = (isProcess && !SMOKE.test(path)) || LATER.test(path)
  return { path, part, when: isLater ? 'after-merge' : 'change' }
}
