/**
 * `node server/generate/main.ts`: writes the files of this repository that come from the server's code, so that the contract and the
 * documentation can't drift from it. With `--check` it compares instead, and names what differs.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { version } from '#node/basics.ts'
import { configurationMarkdown } from './configuration.ts'
import { configurationSchemaJson } from '#config/schema/json.ts'
import { catalogReleaseJson } from './catalog-release.ts'
import { imageModelsMarkdown } from './image-models.ts'
import { allFaultsMarkdown } from '#core/fault/page.ts'
import { defaultLimits } from '#core/settings.ts'
import { openapiText } from '#http/openapi.ts'
import { consolePlaces } from './console-places.ts'
import { controlServer, type ControlDependencies } from '#control/server.ts'
import { metricsMarkdown } from './metrics.ts'
import { withProviders } from './providers.ts'
import { gatewayServer, type GatewayDependencies } from '#http/gateway/server.ts'
import { cliMarkdown } from './cli.ts'
import { TOPICS } from '#cli/commands.ts'
import { chartSchemaJson } from './chart-schema.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Returns how many differ. */
async function generateFiles(isCheck: boolean): Promise<number> {
  const files: Record<string, string> = {
    'contract/control.openapi.json': await openapiJson(controlApp()),
    'contract/gateway.openapi.json': await openapiJson(await gatewayApp()),
    'contract/torana.schema.json': configurationSchemaJson(),
    'deploy/helm/torana/values.schema.json': chartSchemaJson(read('deploy/helm/torana/values.schema.json')),
    'server/catalog/release.json': catalogReleaseJson(),
    'docs/cli.md': cliMarkdown(TOPICS),
    'docs/configuration.md': configurationMarkdown(),
    'docs/errors.md': allFaultsMarkdown(),
    'docs/metrics.md': metricsMarkdown(),
    'docs/image-models.md': imageModelsMarkdown(),
    'docs/upstreams.md': withProviders(read('docs/upstreams.md')),
    'console/src/app/places.ts': consolePlaces(join(ROOT, 'console/src/pages')),
  }
  let stale = 0
  for (const [name, text] of Object.entries(files)) {
    const file = join(ROOT, name)
    if (existsSync(file) && readFileSync(file, 'utf8') === text) continue
    stale += 1
    if (isCheck) {
      process.stderr.write(
        `${name} is not what the code generates. Run \`npm run generate\` and look at the difference.\n`,
      )
      continue
    }
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    process.stdout.write(`wrote ${name}\n`)
  }
  return isCheck ? stale : 0
}

function read(name: string): string {
  return readFileSync(join(ROOT, name), 'utf8')
}

/** Routes are only registered, never called, so nothing but the limits is needed. */
function gatewayApp(): Promise<FastifyInstance> {
  const clock = { nowMs: () => 0, monotonicMs: () => 0 }
  return gatewayServer({ version, limits: defaultLimits, clock } as GatewayDependencies)
}

/** Stands for every part of a node: features take their parts when they register, and use them only when they are called. */
const anyPart: object = new Proxy(() => anyPart, {
  get: (_, name) => (name === Symbol.iterator ? () => [].values() : anyPart),
})

function controlApp(): FastifyInstance {
  const given = { version, console: { folder: '', basePath: '/' } }
  const api = new Proxy(given, { get: (of, name) => Reflect.get(of, name) ?? anyPart })
  return controlServer({ limits: defaultLimits, api } as unknown as ControlDependencies)
}

async function openapiJson(app: FastifyInstance): Promise<string> {
  await app.ready()
  return openapiText(app)
}

process.exitCode = (await generateFiles(process.argv.includes('--check'))) > 0 ? 1 : 0
