/**
 * `npm run lab -- release-dry-run`: a release of this commit against a registry on loopback (Verdaccio), step by step as
 * `.github/workflows/release.yml` does it: plan, checks, tag, package, notes, image. Then once more: the second run must do nothing.
 * It works on a clone in a temporary folder and leaves this checkout as it is.
 *   --checks "<command>"  what runs as the checks (default: bash .ci/run)
 *   --image               also build and try the image, with buildah (root)
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { parse } from 'yaml'
import { eventually } from '../server/test/support/process.ts'
import { freePort } from '../server/test/support/servers.ts'
import { packageOf } from './release/files.ts'

/** Verdaccio asks for node-fetch by a tag, which mirrors of the registry may not have. */
const REGISTRY = { dependencies: { verdaccio: '6.10.4' }, overrides: { 'node-fetch': '2.7.0' } }
const ROOT = join(import.meta.dirname, '..')

const { values } = parseArgs({
  options: {
    checks: { type: 'string', default: 'bash .ci/run' },
    image: { type: 'boolean', default: false },
  },
})
const folder = mkdtempSync(join(tmpdir(), 'torana-release-'))
const checkout = join(folder, 'checkout')
const notesFile = join(folder, 'notes.md')

/** What the workflow waits for, as it is written: nothing is published before the checks, no image before the package. */
function assertOrder(): void {
  const { jobs } = parse(readFileSync(join(ROOT, '.github/workflows/release.yml'), 'utf8')) as {
    readonly jobs: Record<string, { readonly needs?: string | readonly string[] }>
  }
  for (const [job, before] of [
    ['checks', 'plan'],
    ['publish', 'checks'],
    ['publish', 'processes'],
    ['publish', 'weekly'],
    ['image', 'publish'],
  ] as const)
    assert.ok([jobs[job]?.needs].flat().includes(before), `the job ${job} waits for ${before}`)
}

function run(command: string, args: readonly string[], cwd = checkout): string {
  // `npm run --silent` would also silence the errors of npm below it.
  const env = { ...process.env, npm_config_loglevel: 'error' }
  return execFileSync(command, args, {
    cwd,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim()
}

async function startRegistry(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const home = join(folder, 'registry')
  mkdirSync(home)
  writeFileSync(join(home, 'package.json'), JSON.stringify(REGISTRY))
  run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], home)
  const config = join(home, 'config.yaml')
  const rules = { '**': { access: '$all', publish: '$all' } }
  writeFileSync(config, JSON.stringify({ storage: './storage', packages: rules, log: { level: 'warn' } }))
  const url = `http://127.0.0.1:${await freePort()}`
  const program = join(home, 'node_modules/verdaccio/bin/verdaccio')
  const child = spawn(process.execPath, [program, '--config', config, '--listen', url], { stdio: 'inherit' })
  const exit = once(child, 'exit')
  await eventually(async () => assert.equal((await fetch(`${url}/-/ping`)).status, 200))
  return {
    url,
    async stop() {
      child.kill()
      await exit
    },
  }
}

function plan(registry: string): Record<string, string> {
  const printed = run(process.execPath, ['lab/release/main.ts', '--registry', registry, '--notes', notesFile])
  return Object.fromEntries(
    printed.split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2)) as [string, string][],
  )
}

/** Returns the steps that were done. */
function release(registry: string): string[] {
  const { next, tags, publishes, version = '', why } = plan(registry)
  console.log(`plan: ${next} (${why})`)
  if (next !== 'release') return []
  const done: string[] = []
  const step = (name: string, work: () => unknown): void => {
    const startMs = performance.now()
    work()
    done.push(name)
    console.log(`${name}: ${((performance.now() - startMs) / 1000).toFixed(1)} s`)
  }
  step('checks', () => run('bash', ['-c', values.checks]))
  step('build', () => run('npm', ['run', '--silent', 'build']))
  if (tags === 'true') step('tag', () => run('git', ['tag', `v${version}`]))
  const token = `--//${new URL(registry).host}/:_authToken=local`
  if (publishes === 'true')
    // Only GitHub's workflow has the identity that signs a provenance.
    step('publish', () =>
      run('npm', ['publish', './dist/torana', '--registry', registry, token, '--provenance=false']),
    )
  step('notes', () => assert.ok(readFileSync(notesFile, 'utf8').trim().length > 0))
  if (values.image)
    step('image', () => console.log(run('env', ['STRICT=1', 'bash', 'deploy/check-image.sh'])))
  return done
}

assertOrder()
run('git', ['clone', '--quiet', ROOT, checkout], ROOT)
run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'])
const { version } = packageOf(checkout)
run('npm', ['run', '--silent', 'release:version', '--', version])
run('git', [
  '-c',
  'user.name=dry run',
  '-c',
  'user.email=dry@run',
  'commit',
  '--quiet',
  '--all',
  '--message',
  version,
])
const registry = await startRegistry()
try {
  const first = release(registry.url)
  assert.deepEqual(
    first.filter((step) => step !== 'image'),
    ['checks', 'build', 'tag', 'publish', 'notes'],
  )
  const user = join(folder, 'user')
  mkdirSync(user)
  // Only the package is in this registry; what it depends on comes from the usual one.
  const tarball = run('npm', ['view', 'torana', 'dist.tarball', '--registry', registry.url], user)
  run('npm', ['install', '--prefix', user, '--no-audit', '--no-fund', tarball], user)
  console.log(
    `installed from the registry: ${run(join(user, 'node_modules/.bin/torana'), ['--version'], user)}`,
  )
  assert.deepEqual(release(registry.url), [], 'the second run does nothing')
  console.log(`released ${version} once; the second run did nothing`)
} finally {
  await registry.stop()
  rmSync(folder, { recursive: true, force: true })
}
