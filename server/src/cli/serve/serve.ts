/** Runs a node until a signal stops it, and prints how to use it. */
import cluster from 'node:cluster'
import { bindListeners } from '#node/listeners.ts'
import { readEnvironment } from '#config/environment.ts'
import { JOINS_OTHERS } from '#config/unknown-variables.ts'
import { readText, type Environment } from '#config/file/variable.ts'
import { listModels } from '#core/catalog/catalog.ts'
import type { Settings } from '#core/settings.ts'
import type { Node } from '#main'
import { readManifest } from '#package/files.ts'
import type { Output } from '../command/output.ts'
import { onHangUp, StopRequested, stopRequested, stopSignal } from './stop-signals.ts'
import { WorkerChannel } from './worker-channel.ts'

/** `notes` are lines for the banner. */
export async function serve(env: Environment, out: Output, notes: readonly string[] = []): Promise<number> {
  const settings = readEnvironment(env, process.cwd(), readText)
  // Whatever a node writes is its user's alone, also what its packages write: the database inside it knows of no modes.
  process.umask(0o077)
  if (settings.workers === undefined) return runNode(settings, env, out, { notes })
  if (cluster.isWorker) return runNode(settings, env, out, { notes, channel: new WorkerChannel() })
  const { supervise } = await import('./supervise.ts')
  return supervise(settings, { workers: settings.workers, env, out })
}

interface RunParts {
  readonly notes: readonly string[]
  /** To the supervisor; undefined: there is none. */
  readonly channel?: WorkerChannel
}

async function runNode(
  settings: Settings,
  env: Environment,
  out: Output,
  { notes, channel }: RunParts,
): Promise<number> {
  const say = (line: string): void => void out.stderr.write(`  ${line}\n`)
  let node: Node
  try {
    node = await start(settings, env, { say, channel })
  } catch (error) {
    if (error instanceof StopRequested) return 0
    const problem = await problemOf(error, settings)
    if (problem === undefined) throw error
    out.stderr.write(`torana: ${problem}\n`)
    return 1
  }
  onHangUp(() => node.reload())
  if (channel === undefined) out.stderr.write(banner(node, notes))
  else channel.ready(node, banner(node, notes))
  const reasons = [stopRequested(), node.ended.then(() => 'ended' as const)]
  const reason = await Promise.race([...reasons, ...(channel ? [channel.mustEnd] : [])])
  if (reason === 'ended') return 1
  // Ctrl-C is a person who wants it to end. SIGTERM may come from an orchestrator with a load balancer in front of the node.
  const by = reason instanceof StopRequested ? reason.by : reason
  await node.stop({ gently: by === 'SIGTERM', isReplaced: by === 'replaced' || by === 'orphaned' })
  await channel?.leave()
  return 0
}

interface StartParts {
  readonly say: (line: string) => void
  readonly channel: WorkerChannel | undefined
}

/** Says at once what is going on: the first start of a node takes some seconds. */
async function start(settings: Settings, env: Environment, { say, channel }: StartParts): Promise<Node> {
  const isLate = env[JOINS_OTHERS] !== undefined
  const listeners = await bindListeners(settings, { isLate })
  if (channel !== undefined) channel.onConnection = (to, socket) => listeners.take(to, socket)
  if (!isLate) say(`Torana ${readManifest().version} is starting at ${listeners.url}`)
  // Loaded only now: a port in use is reported before a second is spent on the rest of the code.
  const { startNode } = await import('#main')
  const { databaseLine, openDatabaseStores, unreachableLine } = await import('#node/database.ts')
  const openStores: typeof openDatabaseStores = async (...parts) => {
    say(databaseLine(settings))
    const stores = await openDatabaseStores(...parts)
    if (stores.isStoreUnreachable()) say(unreachableLine(settings, listeners.controlUrl))
    return stores
  }
  return startNode(settings, env, listeners, openStores, { signal: stopSignal, peers: channel?.peers })
}

/** What the system says of a folder that can't be used. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'may not be written by this user'],
  ['EPERM', 'may not be written by this user'],
  ['EROFS', 'is on a disk that cannot be written'],
  ['ENOSPC', 'is on a full disk'],
  ['ENOTDIR', 'is not a folder, or is below something that is none'],
  ['ENOENT', 'cannot be made there'],
])

/** What a person can do something about, in their words; undefined: nothing they could do. */
async function problemOf(error: unknown, settings: Settings): Promise<string | undefined> {
  const { code, port, address } = error as { code?: string; port?: number; address?: string }
  if (code === 'EADDRINUSE') {
    const variable = port === settings.controlPort ? 'CONTROL_PORT' : 'PORT'
    return `${address}:${port} is in use by another program. Stop that program, or set ${variable} to another port.`
  }
  const { path } = error as { path?: string }
  if (code !== undefined && path !== undefined && REASONS.has(code)) {
    const { assets, dataDir } = settings
    const isOfAssets =
      assets.kind === 'file' && !assets.folder.startsWith(dataDir) && path.startsWith(assets.folder)
    const variable = isOfAssets ? 'ASSETS_URL' : 'TORANA_DATA_DIR'
    return `${variable}: ${path} ${REASONS.get(code)} (${code}). Name a folder that this user may create and write.`
  }
  const { FolderInUse, NoDatabaseInside } = await import('#stores/postgres/pglite.ts')
  const { UnsafeSecret } = await import('#runtime/secret.ts')
  const { UnsafeFolder } = await import('#runtime/data-folder.ts')
  if (error instanceof UnsafeFolder) return `TORANA_DATA_DIR: ${error.message}`
  const isPlain = [FolderInUse, NoDatabaseInside, UnsafeSecret].some((kind) => error instanceof kind)
  return isPlain ? (error as Error).message : undefined
}

function banner(
  { url, controlUrl, demoKey, catalog, hasKeys, welcomeUrl }: Node,
  notes: readonly string[],
): string {
  const models = listModels(catalog())
  // Of a Torana that npm started, `torana` may not be on the reader's PATH.
  const command = process.env['npm_command'] === undefined ? 'torana' : 'npx torana'
  const lines = ['', '  Torana is ready.', '', `  Base URL  ${url}/v1`, `  Metrics   ${controlUrl}/metrics`]
  lines.push(`  Console   ${welcomeUrl ?? controlUrl}`)
  lines.push(`  Models    ${models.map(({ id }) => id).join(', ')}`)
  lines.push(...notes.map((note) => `  ${note}`))
  if (demoKey === undefined) {
    const none = `none: every request is refused. \`${command} key\` prints a new one for TORANA_BOOTSTRAP_KEY or projects.<name>.keys`
    lines.push(`  Keys      ${hasKeys ? 'as configured' : none}`, '')
    return `${lines.join('\n')}\n`
  }
  const model = models[0]?.id ?? 'demo-embed'
  lines.push(
    `  Key       ${demoKey}`,
    '',
    '  Try it:',
    '',
    `  curl ${url}/v1/embeddings \\`,
    `    -H 'Authorization: Bearer ${demoKey}' \\`,
    `    -H 'Content-Type: application/json' \\`,
    `    -d '{"model":"${model}","input":["cat","kitten","car"]}'`,
    '',
    `  Next: \`${command} init > torana.yaml\` for your own upstreams. \`${command} --help\` lists all commands.`,
    '',
  )
  return `${lines.join('\n')}\n`
}
