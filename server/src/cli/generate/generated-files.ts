/**
 * Writes the files of this repository that come from code, so that the contract and the documentation
 * can't drift from it; or compares instead and names what differs.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { version } from '#compose/basics.ts'
import { configurationMarkdown, configurationSchemaJson } from '#config/pages/document.ts'
import { imageModelsMarkdown } from '#config/pages/image-document.ts'
import { allFaultsMarkdown } from '#core/fault/page.ts'
import { defaultLimits } from '#core/settings.ts'
import { openapiText } from '#http/openapi.ts'
import { controlReference, type ControlDocument } from '#http/control/reference.ts'
import { controlServer, type ControlDependencies } from '#http/control/server.ts'
import { metricsMarkdown } from '#telemetry/metrics-page.ts'
import { gatewayServer, type GatewayDependencies } from '#http/gateway/server.ts'
import { cliMarkdown } from '../command/document.ts'
import type { Topic } from '../command/command.ts'
import type { Output } from '../command/output.ts'
import { chartSchemaJson } from './chart-schema.ts'

const ROOT = join(import.meta.dirname, '../../../..')

/** Returns how many differ. */
export async function generateFiles(
  isCheck: boolean,
  topics: readonly Topic[],
  out: Output,
): Promise<number> {
  const controlJson = await openapiJson(controlApp())
  const files: Record<string, string> = {
    'contract/control.openapi.json': controlJson,
    'docs/control-api.md': controlReference(JSON.parse(controlJson) as ControlDocument),
    'contract/gateway.openapi.json': await openapiJson(await gatewayApp()),
    'contract/torana.schema.json': configurationSchemaJson(),
    'deploy/helm/torana/values.schema.json': chartSchemaJson(read('deploy/helm/torana/values.schema.json')),
    'docs/cli.md': cliMarkdown(topics),
    'docs/configuration.md': configurationMarkdown(),
    'docs/errors.md': allFaultsMarkdown(),
    'docs/metrics.md': metricsMarkdown(),
    'docs/image-models.md': imageModelsMarkdown(),
  }
  let stale = 0
  for (const [name, text] of Object.entries(files)) {
    const file = join(ROOT, name)
    if (existsSync(file) && readFileSync(file, 'utf8') === text) continue
    stale += 1
    if (isCheck) {
      out.stderr.write(
        `${name} is not what the code generates. Run \`npm run generate\` and look at the difference.\n`,
      )
      continue
    }
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    out.stdout.write(`wrote ${name}\n`)
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

/** The parts that a node may lack: each of them has routes. One line each. */
const PARTS = {
  books: {},
  backup: {},
  keyReports: {},
  playground: {},
  resolve: {},
  money: {},
  spaces: {},
  events: {},
  overview: {},
  deployments: {},
  models: {},
  requests: {},
  imageJobs: {},
  assets: {},
  batches: {},
  people: {},
  settings: {},
  storedModels: {},
}

function controlApp(): FastifyInstance {
  const console = { folder: '', basePath: '/' }
  return controlServer({
    limits: defaultLimits,
    api: { version, console, ...PARTS },
  } as unknown as ControlDependencies)
}

async function openapiJson(app: FastifyInstance): Promise<string> {
  await app.ready()
  return openapiText(app)
}
