/** `torana start`: runs a node until it is told to stop, and tells a person how to use it. */
import { readEnvironment } from '#config/environment.ts'
import { readText } from '#config/load.ts'
import { listModels } from '#core/catalog.ts'
import { startNode, type Node } from '#main'
import { FolderInUse } from '#stores/postgres/pglite.ts'
import type { Output } from './output.ts'

export async function run(_argv: string[], out: Output): Promise<number> {
  const settings = readEnvironment(process.env, process.cwd(), readText)
  let node: Node
  try {
    node = await startNode(settings, process.env)
  } catch (error) {
    if (error instanceof FolderInUse) {
      out.stderr.write(`torana: ${error.message}\n`)
      return 1
    }
    const { code, port, address } = error as { code?: string; port?: number; address?: string }
    if (code !== 'EADDRINUSE') throw error
    const variable = port === settings.controlPort ? 'CONTROL_PORT' : 'PORT'
    out.stderr.write(
      `torana: ${address}:${port} is taken by another program. Stop it, or set ${variable} to another port.\n`,
    )
    return 1
  }
  const reload = (): void => node.reload()
  process.on('SIGHUP', reload)
  const told = new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })
  // Only now: whoever reads it may tell us to stop in the same moment.
  out.stderr.write(banner(node))
  const reason = await Promise.race([
    told.then(() => 'told' as const),
    node.ended.then(() => 'ended' as const),
  ])
  process.off('SIGHUP', reload)
  if (reason === 'ended') return 1
  await node.stop()
  return 0
}

function banner({ url, controlUrl, demoKey, catalog, hasKeys }: Node): string {
  const models = listModels(catalog())
  const lines = ['', '  Torana is ready.', '', `  Base URL  ${url}/v1`, `  Metrics   ${controlUrl}/metrics`]
  lines.push(`  Models    ${models.map(({ id }) => id).join(', ')}`)
  if (demoKey === undefined) {
    const none =
      'none: nobody can call yet. `torana key` makes one for TORANA_BOOTSTRAP_KEY or projects.<name>.keys'
    lines.push(`  Keys      ${hasKeys ? 'as configured' : none}`, '')
    return `${lines.join('\n')}\n`
  }
  const model = models[0]?.id ?? 'demo-embed'
  lines.push(
    `  Key       ${demoKey}`,
    '',
    '  Try it:',
    '',
    `  curl ${url}/v1/embeddings -H 'Authorization: Bearer ${demoKey}' -H 'Content-Type: application/json' -d '{"model":"${model}","input":["cat","kitten","car"]}'`,
    '',
    '  Next: `node server/bin/torana.js init > torana.yaml` for your own upstreams; docs/quick-start.md tells the rest.',
    '',
  )
  return `${lines.join('\n')}\n`
}
