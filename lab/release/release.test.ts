/** A release on a dry run: a planted checkout with a registry of its own, and the programs that the workflow starts. */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { writeVersion } from './files.ts'

const HERE = import.meta.dirname
const REPOSITORY = join(HERE, '../..')
const VERSIONED = [
  'server/package.json',
  'package.json',
  'package-lock.json',
  'deploy/helm/torana/Chart.yaml',
]
const UNRELEASED = '# Changelog\n\n## [Unreleased]\n\n- a cache\n'
const RELEASED = '# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-11-17\n\n- first\n'
const OURS = 'git+https://github.com/torana/torana.git'

/** What the registry answers for a version of the package. */
const registry = createServer((request, response) => {
  const [, port = '', version = ''] = /^\/(\w+)\/torana\/(.*)$/.exec(request.url ?? '') ?? []
  const status = port === 'broken' ? 503 : port === 'empty' ? 404 : 200
  const url = port === 'strange' ? 'git+https://github.com/another/owner.git' : OURS
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ name: 'torana', version, repository: { url } }))
})
before(async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  registry.listen(0, '127.0.0.1', resolve)
  await promise
})
after(() => registry.close())

interface Case {
  readonly name: string
  readonly changelog: string
  readonly registry: 'empty' | 'ours' | 'strange' | 'broken'
  readonly tag?: 'here' | 'elsewhere'
  readonly chart?: string
  readonly output: RegExp
}

const CASES: readonly Case[] = [
  {
    name: 'no section of the version: nothing is released, though it is not in the registry',
    changelog: UNRELEASED,
    registry: 'empty',
    output: /^version=0\.1\.0\nnext=nothing\ntags=false\npublishes=false\nwhy=.*no section of 0\.1\.0/,
  },
  {
    name: 'a new version with its section: it is released',
    changelog: RELEASED,
    registry: 'empty',
    output: /^version=0\.1\.0\nnext=release\ntags=true\npublishes=true\nwhy=0\.1\.0 is not published yet/,
  },
  {
    name: 'a version that exists: nothing is released',
    changelog: RELEASED,
    registry: 'ours',
    tag: 'elsewhere',
    output: /next=nothing\ntags=false\npublishes=false\nwhy=0\.1\.0 is published/,
  },
  {
    name: 'a release that broke off between tag and package goes on at the same commit',
    changelog: RELEASED,
    registry: 'empty',
    tag: 'here',
    output: /next=release\ntags=false\npublishes=true\nwhy=0\.1\.0 has its tag/,
  },
  {
    name: 'a release that broke off is not finished with another commit',
    changelog: RELEASED,
    registry: 'empty',
    tag: 'elsewhere',
    output: /^failed with 1: [^]*v0\.1\.0 is the tag of [0-9a-f]{40}, whose release broke off/,
  },
  {
    name: 'a package without a tag is refused',
    changelog: RELEASED,
    registry: 'ours',
    output: /^failed with 1: [^]*0\.1\.0 is published without a tag/,
  },
  {
    name: 'a version without any text is refused before anything is published',
    changelog: RELEASED.replace('- first', ''),
    registry: 'empty',
    output: /^failed with 1: [^]*section of 0\.1\.0 in CHANGELOG\.md is empty/,
  },
  {
    name: 'a chart of another version is refused',
    changelog: RELEASED,
    registry: 'empty',
    chart: 'version: 0.0.9\nappVersion: 0.1.0\n',
    output: /^failed with 1: [^]*Chart\.yaml has 0\.0\.9, not 0\.1\.0/,
  },
  {
    name: 'a package of the same name by a stranger is refused',
    changelog: RELEASED,
    registry: 'strange',
    output: /^failed with 1: [^]*not ours: it comes from .*another\/owner/,
  },
  {
    name: 'a registry that fails is not taken for an empty one',
    changelog: RELEASED,
    registry: 'broken',
    output: /^failed with 1: [^]*answered 503/,
  },
]

for (const { name, changelog, registry: kind, tag, chart, output } of CASES) {
  test(name, async (t) => {
    const root = checkout(t, changelog)
    if (chart !== undefined) writeFileSync(join(root, 'deploy/helm/torana/Chart.yaml'), chart)
    if (tag !== undefined) git(root, 'tag', 'v0.1.0')
    if (tag === 'elsewhere') commit(root)
    const address = registry.address()
    assert.ok(typeof address === 'object' && address !== null)
    const notes = join(root, 'notes.md')
    const url = `http://127.0.0.1:${address.port}/${kind}`
    const printed = await run('main.ts', '--root', root, '--registry', url, '--notes', notes)
    assert.match(printed, output)
    if (printed.includes('next=release')) assert.equal(readFileSync(notes, 'utf8'), '- first\n')
  })
}

for (const [wanted, version] of [
  ['0.1.0', '0.1.0'],
  ['patch', '0.1.1'],
  ['minor', '0.2.0'],
  ['major', '1.0.0'],
] as const) {
  test(`release:version ${wanted} gives every file ${version}, and the changelog its section`, async (t) => {
    const root = checkout(t, UNRELEASED)
    assert.match(await run('version.ts', wanted, '--root', root), new RegExp(`^Version ${version}\\.`))
    for (const file of VERSIONED) {
      const changed = git(root, 'diff', '--unified=0', '--', file).match(/^\+(?!\+).*/gm) ?? []
      assert.ok(
        changed.every((line) => line.includes(version)),
        `${file}: ${changed.join()}`,
      )
      if (version !== '0.1.0') assert.ok(changed.length > 0, `${file} is unchanged`)
    }
    assert.match(
      readFileSync(join(root, 'CHANGELOG.md'), 'utf8'),
      new RegExp(`\\n## \\[${version}\\] - \\d{4}-\\d\\d-\\d\\d\\n\\n- a cache\\n`),
    )
  })
}

test('release:version without a step, and with an unknown one, changes nothing', async (t) => {
  const root = checkout(t, UNRELEASED)
  assert.match(await run('version.ts', '--root', root), /^failed with 1: [^]*name the step or the version/)
  assert.match(await run('version.ts', 'huge', '--root', root), /^failed with 1: [^]*not huge/)
  assert.equal(git(root, 'status', '--porcelain'), '')
})

/** The files of this repository that carry the version, with a changelog of the test's own. */
function checkout(t: TestContext, changelog: string): string {
  const root = mkdtempSync(join(tmpdir(), 'torana-release-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const file of VERSIONED) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    cpSync(join(REPOSITORY, file), join(root, file))
  }
  // Whatever version this repository has by now.
  writeVersion(root, '0.1.0')
  writeFileSync(join(root, 'CHANGELOG.md'), changelog)
  git(root, 'init', '--quiet')
  git(root, 'add', '.')
  commit(root)
  return root
}

function commit(root: string): void {
  const person = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
  git(root, ...person, 'commit', '--quiet', '--allow-empty', '--message', 'a')
}

function git(root: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' })
}

/** What it prints; if it fails, that it did, and why. */
async function run(program: string, ...args: string[]): Promise<string> {
  const ended = await promisify(execFile)(process.execPath, [join(HERE, program), ...args]).catch(
    (error: unknown) => error as { code: number; stderr: string },
  )
  return 'code' in ended ? `failed with ${ended.code}: ${ended.stderr}` : ended.stdout
}
