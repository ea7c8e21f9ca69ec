/** Which checks a change needs: all of them, unless every changed file is of a kind whose readers are known. */
import { reachFrom } from './imports.ts'
import { listTestFiles, type TestFile } from './test-files.ts'

export interface Choice {
  /** One line for the log. */
  readonly why: string
  readonly first: readonly string[]
  readonly shape: readonly string[]
  readonly programs: readonly string[]
  readonly tests: readonly TestFile[]
}

/** npm scripts, in seconds: what a machine can say of the text alone. `test:tidy` holds the rules of the code. */
const FIRST = ['test:tidy', 'format -- --check', 'lint', 'knip', 'generate -- --check'] as const
const SHAPE = ['types', 'build'] as const
const CONSOLE_SMOKE = 'test:console -- smoke'
/** A minute of both cores, in a fresh clone: after every merge, and before it only where the pages that it reads changed. */
const DOCS_SMOKE = 'lab -- check/docs --smoke'

const TEXT = /^(?:docs|site|deploy|\.github)\/|^[^/]+\.md$|\/(?:README|notes\/[^/]+)\.md$/
const FIRST_PAGES = /^(?:README\.md|docs\/quick-start\.md)$/
const CONSOLE = /^console\//
const SOURCE = /^(?:server\/(?:src|test|build|generate)|lab|bulk|import-litellm)\/.*\.tsx?$/
/** What ships, and so what the browser and the pages meet. */
const SHIPPED = /^(?:server\/(?:src|build)|bulk\/src)\//

/** `paths`: what changed since a known commit. Undefined: unknown. */
export function chooseChecks(paths: readonly string[] | undefined): Choice {
  const files = listTestFiles().filter(({ when }) => when === 'change')
  // The rules of the code are among the first checks.
  const tests = files.filter(({ part }) => part !== 'tidy')
  const strange = paths?.find((path) => ![TEXT, CONSOLE, SOURCE].some((kind) => kind.test(path)))
  if (paths === undefined || paths.length === 0 || strange !== undefined)
    return {
      why: `everything: ${strange === undefined ? 'there is no commit to compare with' : `any test may read ${strange}`}`,
      first: FIRST,
      shape: SHAPE,
      programs: [CONSOLE_SMOKE],
      tests,
    }

  const has = (kind: RegExp): boolean => paths.some((path) => kind.test(path))
  const isText = paths.every((path) => TEXT.test(path))
  // They read whole folders, and files by names that they compute.
  const chosen = tests.filter(({ path, part }) => (part === 'text' && has(TEXT)) || readsAny(path, paths))
  const startsProcesses = has(SHIPPED) || chosen.some(({ part }) => part === 'e2e')
  return {
    why: `${[...areasIn(paths)].join(', ')}: ${chosen.length} of ${tests.length} files of tests read what changed`,
    first: FIRST,
    shape: isText ? [] : has(CONSOLE) || startsProcesses ? SHAPE : ['types'],
    programs: [
      ...(has(SHIPPED) || has(CONSOLE) ? [CONSOLE_SMOKE] : []),
      ...(has(FIRST_PAGES) ? [DOCS_SMOKE] : []),
      ...pageTests(paths),
    ],
    tests: chosen,
  }
}

function readsAny(file: string, paths: readonly string[]): boolean {
  const reach = reachFrom(file)
  return paths.some((path) => reach.has(path) || [...reach].some((read) => path.startsWith(`${read}/`)))
}

function areasIn(paths: readonly string[]): ReadonlySet<string> {
  return new Set(paths.map((path) => (TEXT.test(path) ? 'text' : (path.split('/')[0] ?? path))))
}

/** Tests of a browser whose page, or who themselves, changed. What pages share is in all of them: the smoke opens each page once. */
function pageTests(paths: readonly string[]): readonly string[] {
  const names = paths.flatMap((path) => {
    const [, page] = /^console\/src\/pages\/([\w-]+)\//.exec(path) ?? []
    const [, test] = /^console\/test\/([\w-]+)\.test\.ts$/.exec(path) ?? []
    return page ?? test ?? []
  })
  const tests = [...new Set(names)].flatMap((name) => TESTS_OF_PAGE[name] ?? [name])
  return tests.length === 0 ? [] : [`test:console -- ${[...new Set(tests)].join(' ')} --project chromium`]
}

/** Pages whose browser tests have other names than the page. `[]`: the smoke alone opens it. */
export const TESTS_OF_PAGE: Readonly<Record<string, readonly string[]>> = {
  audit: [],
  budgets: ['money', 'writes'],
  deployments: ['deployments', 'drift'],
  embeddings: ['embeddings', 'contents'],
  go: ['palette'],
  models: ['models', 'declared-spaces', 'suspects'],
  requests: ['requests', 'time'],
  settings: ['people', 'grants', 'ledger'],
  snapshot: ['sharing'],
  unknowns: ['money'],
  upstreams: ['routing'],
  usage: ['money'],
  welcome: ['people'],
}
