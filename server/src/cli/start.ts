/** `torana start`: runs a node until it is told to stop, and tells a person how to use it. */
import { readEnvironment } from '#config/environment.ts'
import { readText } from '#config/load.ts'
import { listModels } from '#core/catalog.ts'
import { startNode, type Node } from '#main'
import type { Output } from './output.ts'

export async function run(_argv: string[], out: Output): Promise<number> {
  const settings = readEnvironment(process.env, process.cwd(), readText)
  let node: Node
  try {
    node = await startNode(settings, process.env)
  } catch (error) {
    const { code, port, address } = error as { code?: string; port?: number; address?: string }
    if (code !== 'EADDRINUSE') throw error
    const variable = port === settings.controlPort ? 'CONTROL_PORT' : 'PORT'
    out.stderr.write(
      `torana: ${address}:${port} is taken by another program. Stop it, or set ${variable} to another port.\n`,
    )
    return 1
  }
  out.stderr.write(banner(node))
  const reload = (): void => node.reload()
  process.on('SIGHUP', reload)
  await new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })
  process.off('SIGHUP', reload)
  await node.stop()
  return 0
}

function banner({ url, controlUrl, demoKey, catalog }: Node): string {
  const models = listModels(catalog())
  const lines = ['', '  Torana is ready.', '', `  Base URL  ${url}/v1`, `  Metrics   ${controlUrl}/metrics`]
  lines.push(`  Models    ${models.map(({ id }) => id).join(', ')}`)
  if (demoKey === undefined) {
    lines.push('  Keys      as configured', '')
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
    '  Next: `npm run torana init > torana.yaml` for your own upstreams; docs/quick-start.md tells the rest.',
    '',
  )
  return `${lines.join('\n')}\n`
}
