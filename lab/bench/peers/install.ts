/** Installs the other gateways outside of the repository. A failure is reported, and the others go on. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PEERS_FOLDER } from './contender.ts'
import { BIFROST } from './others.ts'
import { BIFROST_VERSION, LITELLM_VERSION, PORTKEY_VERSION } from './versions.ts'

/** Its Go modules can't be fetched one by one, so it is built from its repository. */
const BIFROST_REPOSITORY = process.env['BIFROST_REPOSITORY'] ?? 'https://github.com/maximhq/bifrost'

export function installPeers(): void {
  mkdirSync(PEERS_FOLDER, { recursive: true })
  for (const [name, install] of Object.entries({ LiteLLM: litellm, Portkey: portkey, Bifrost: bifrost }))
    try {
      install()
      console.log(`${name}: installed in ${PEERS_FOLDER}`)
    } catch (error) {
      console.log(`${name} could not be installed: ${error instanceof Error ? error.message : String(error)}`)
    }
}

function litellm(): void {
  if (!existsSync(join(PEERS_FOLDER, 'litellm'))) run('python3', ['-m', 'venv', 'litellm'])
  run('litellm/bin/python', ['-m', 'pip', 'install', '--quiet', `litellm[proxy]==${LITELLM_VERSION}`])
}

function portkey(): void {
  const folder = join(PEERS_FOLDER, 'portkey')
  mkdirSync(folder, { recursive: true })
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder]
  run('npm', ['install', ...quiet, `@portkey-ai/gateway@${PORTKEY_VERSION}`])
}

/** Some minutes of two cores. */
function bifrost(): void {
  const source = join(PEERS_FOLDER, 'bifrost-source')
  if (!existsSync(source)) {
    const tag = `transports/v${BIFROST_VERSION}`
    run('git', ['clone', '--quiet', '--sparse', '--depth', '1', '--branch', tag, BIFROST_REPOSITORY, source])
    run('git', ['sparse-checkout', 'set', 'core', 'framework', 'plugins', 'transports'], source)
  }
  const transports = join(source, 'transports')
  const own = ['core', 'framework', ...readdirSync(join(source, 'plugins')).map((name) => `plugins/${name}`)]
  for (const part of own.filter((name) => existsSync(join(source, name, 'go.mod'))))
    run('go', ['mod', 'edit', '-replace', `github.com/maximhq/bifrost/${part}=../${part}`], transports)
  // Its pages are made by another build, and embedded.
  const pages = join(transports, 'bifrost-http/ui')
  mkdirSync(pages, { recursive: true })
  if (!existsSync(join(pages, 'index.html'))) writeFileSync(join(pages, 'index.html'), '<!doctype html>\n')
  const flags = ['-mod=mod', '-ldflags', `-w -s -X main.Version=v${BIFROST_VERSION}`]
  run('go', ['build', ...flags, '-o', BIFROST, './bifrost-http'], transports)
}

function run(command: string, args: readonly string[], cwd: string = PEERS_FOLDER): void {
  const env = { ...process.env, GOTOOLCHAIN: 'auto' }
  execFileSync(command, args, { cwd, env, stdio: ['ignore', 'inherit', 'inherit'] })
}
