/** The workflows of the repository, as far as a test can hold them: GitHub reads them first when it is too late. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'

const ROOT = join(import.meta.dirname, '../../..')
const FOLDER = '.github/workflows'

interface Step {
  readonly id?: string
  readonly if?: string
  readonly uses?: string
  readonly run?: string
}
interface Job {
  readonly needs?: string | readonly string[]
  readonly if?: string
  readonly uses?: string
  readonly permissions?: Readonly<Record<string, 'read' | 'write'>>
  readonly outputs?: Readonly<Record<string, string>>
  readonly steps?: readonly Step[]
  readonly 'timeout-minutes'?: number
}
interface Workflow {
  readonly on: Readonly<Record<string, unknown>>
  readonly permissions: unknown
  readonly concurrency?: { readonly group: string }
  readonly jobs: Readonly<Record<string, Job>>
}

const workflows = new Map(
  globSync(`${FOLDER}/*.yml`, { cwd: ROOT }).map((path) => [
    basename(path),
    parse(readFileSync(join(ROOT, path), 'utf8')) as Workflow,
  ]),
)
assert.ok(workflows.size >= 4, 'found too few workflows: the checks would pass vacuously')

const needsOf = ({ needs = [] }: Job): readonly string[] => (typeof needs === 'string' ? [needs] : needs)
const jobsOf = (name: string): Workflow['jobs'] => workflows.get(name)?.jobs ?? {}
/** All jobs that have to be green before this one starts. */
function before(jobs: Workflow['jobs'], name: string): ReadonlySet<string> {
  const direct = needsOf(jobs[name] ?? {})
  return new Set([...direct, ...direct.flatMap((other) => [...before(jobs, other)])])
}

for (const [file, { jobs, permissions }] of workflows) {
  test(`${file}: every job waits for jobs that exist, and reads outputs that they have`, () => {
    for (const [name, job] of Object.entries(jobs)) {
      for (const other of needsOf(job)) {
        assert.ok(other in jobs, `${name} needs ${other}`)
        assert.ok(!before(jobs, other).has(name), `${name} and ${other} wait for each other`)
      }
      const text = JSON.stringify(job)
      for (const [, other = '', output = ''] of text.matchAll(/needs\.([\w-]+)\.outputs\.([\w-]+)/g)) {
        assert.ok(needsOf(job).includes(other), `${name} reads an output of ${other} and does not need it`)
        assert.ok(output in (jobs[other]?.outputs ?? {}), `${other} has no output ${output}`)
      }
      for (const [, id = ''] of text.matchAll(/steps\.([\w-]+)\.outputs/g))
        assert.ok(
          job.steps?.some((step) => step.id === id),
          `${name} has no step ${id}`,
        )
    }
  })

  test(`${file}: a called workflow exists, can be called, and gets the permissions that its jobs ask for`, () => {
    for (const [name, job] of Object.entries(jobs)) {
      if (job.uses === undefined) {
        assert.ok(job['timeout-minutes'] !== undefined, `${name} has no time limit`)
        continue
      }
      assert.match(job.uses, /^\.\/\.github\/workflows\/[\w-]+\.yml$/)
      const called = workflows.get(basename(job.uses))
      assert.ok(called !== undefined && 'workflow_call' in called.on, `${job.uses} cannot be called`)
      for (const [permission, level] of Object.values(called.jobs).flatMap((inner) =>
        Object.entries(inner.permissions ?? {}),
      )) {
        const given = job.permissions?.[permission]
        assert.ok(given === level || given === 'write', `${name} does not give ${permission}: ${level}`)
      }
    }
  })

  test(`${file}: actions are named by commit, and nothing is allowed that no job asks for`, () => {
    assert.deepEqual(permissions, {})
    for (const { uses } of Object.values(jobs).flatMap(({ steps = [] }) => steps))
      if (uses !== undefined) assert.match(uses, /^[\w-]+\/[\w-]+@[0-9a-f]{40}$/)
  })

  test(`${file}: every script and program of the repository that it starts exists`, () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object }
    for (const { run = '' } of Object.values(jobs).flatMap(({ steps = [] }) => steps)) {
      for (const [, script = ''] of run.matchAll(/npm run ([\w:-]+)/g)) assert.ok(script in scripts, script)
      for (const [path] of run.matchAll(/(?:\.ci|deploy|tools|server)\/[\w./-]+/g))
        assert.ok(existsSync(join(ROOT, path)), path)
    }
  })
}

test('every pull request gets the checks, whatever it changes', () => {
  const ci = workflows.get('ci.yml')
  assert.ok(ci !== undefined && 'pull_request' in ci.on)
  assert.equal(ci.on['pull_request'], null)
})

test('no workflow opens pull requests with its own token, for which GitHub would start no checks', () => {
  for (const [file, workflow] of workflows)
    assert.doesNotMatch(JSON.stringify(workflow), /gh pr create/, file)
})

test('the checks of a release and those of the same push do not cancel each other', () => {
  assert.match(workflows.get('ci.yml')?.concurrency?.group ?? '', /github\.workflow/)
})

test('nothing is published before all checks are green and the text of the release is written', () => {
  const jobs = jobsOf('release.yml')
  assert.equal(jobs['checks']?.uses, './.github/workflows/ci.yml')
  for (const name of ['checks', 'processes', 'weekly'])
    assert.ok(before(jobs, 'publish').has(name) && before(jobs, name).has('plan'), name)
  // `always()` or `!cancelled()` would start it after a red job.
  assert.equal(jobs['publish']?.if, undefined)
  const steps = jobs['publish']?.steps?.map(({ run = '' }) => run) ?? []
  const at = (words: string): number => steps.findIndex((run) => run.includes(words))
  assert.ok(at('--notes') !== -1 && at('--notes') < at('npm publish'))
  assert.ok(at('git/refs') !== -1 && at('git/refs') < at('npm publish'))
  assert.ok(at('npm publish') < at('gh release create'))
})

test('the release starts the images itself: a tag made by its own token starts nothing', () => {
  const jobs = jobsOf('release.yml')
  assert.equal(jobs['image']?.uses, './.github/workflows/image.yml')
  assert.ok(before(jobs, 'image').has('publish'))
  assert.ok(!('push' in (workflows.get('image.yml')?.on ?? {})))
})
