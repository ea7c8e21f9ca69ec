/** The names that a page may use for parts of Torana, from the code that has them. A page with another name is wrong. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { COMMANDS } from '#cli/commands.ts'
import { allOptions, type Command, type Leaf } from '#cli/command/command.ts'
import { environmentVariables } from '#config/variables.ts'
import { inlineCodesOf, proseOf, REPOSITORY } from './docs-pages.ts'
import { PROGRAMS } from '../../../lab/programs.ts'

/** Names of other products that pages speak of. Each is theirs: nothing of ours may be listed here. */
const FOREIGN: Readonly<Record<string, readonly string[]>> = {
  'PostgreSQL and its tools': [
    'synchronous_commit',
    'synchronous_standby_names',
    'pg_dump',
    'ignore_startup_parameters',
  ],
  'Redis and HAProxy': [
    'maxmemory-policy',
    'on-marked-down',
    'proxy_request_buffering',
    'client_max_body_size',
  ],
  LiteLLM: [
    'model_list',
    'litellm_params',
    'litellm_settings',
    'general_settings',
    'master_key',
    'drop_params',
    'database_url',
    'max_budget',
    'max_parallel_requests',
    'api_base',
    '--num_workers',
  ],
  'Open WebUI': ['RAG_EMBEDDING_BATCH_SIZE', 'IMAGE_SIZE'],
  'npm, node and git': ['NODE_EXTRA_CA_CERTS', '--prefix'],
  'SDKs and frameworks': [
    'OPENAI_BASE_URL',
    'TIKTOKEN_CACHE_DIR',
    'base_url',
    'api_key',
    'azure_endpoint',
    'api_version',
    'embed_batch_size',
    'embed_documents',
    'check_embedding_ctx_length',
    'extra_body',
    'extra_headers',
  ],
  'Model servers': ['prompt_name', 'use_activation'],
  OpenTelemetry: ['parentbased_traceidratio'],
  'Linux and containers': ['--time', '--read-only', '--cap-drop', 'terminationGracePeriodSeconds'],
}
const foreign = new Set(Object.values(FOREIGN).flat())

/** Where a name of the product must occur as a whole word. */
const SOURCES = [
  'server/src/**/*.ts',
  'server/catalog/**/*',
  'contract/*.json',
  'deploy/**/*.{yaml,yml,json,conf,cfg,service}',
  'bulk/src/**/*.ts',
  'import-litellm/src/**/*.ts',
  'console/src/**/*.{ts,tsx}',
]

/** Every word of the sources, read once. */
let words: ReadonlySet<string> | undefined
function sourceWords(): ReadonlySet<string> {
  words ??= new Set(
    SOURCES.flatMap((pattern) =>
      globSync(pattern, { cwd: REPOSITORY, exclude: ['**/node_modules/**', '**/dist/**'] })
        .filter((path) => !/\.test\.tsx?$/.test(path) && /\.\w+$/.test(path))
        .flatMap((path) => readFileSync(join(REPOSITORY, path), 'utf8').match(/[A-Za-z_][\w]*/g) ?? []),
    ),
  )
  return words
}

/** Says what is wrong with a name, or nothing. */
type Check = (text: string) => readonly string[]

const leavesOf = (command: Command): readonly Leaf[] =>
  'subcommands' in command ? command.subcommands : [command]

const commands: Check = (text) =>
  [...text.matchAll(/(?:`|^|\$ |\(|\| )(?:npx )?torana ([a-z]+)(?: ([a-z]+))?(?![\w-])/gm)].flatMap(
    ([said, name = '', word]) => {
      const command = COMMANDS.find((one) => one.name === name)
      if (command === undefined) return [`${said.trim()}: no such command`]
      // After the name of a single command come arguments.
      if (word === undefined || !('subcommands' in command)) return []
      return command.subcommands.some((one) => one.name === word) ? [] : [`${said.trim()}: no such command`]
    },
  )

const allLeaves = COMMANDS.flatMap(leavesOf)
const everyOption = new Set(allLeaves.flatMap((leaf) => Object.keys(allOptions(leaf))))

const options: Check = (text) =>
  inlineCodesOf(text).flatMap((code) => {
    const named = [...code.matchAll(/(?<=^|\s)--([a-z][\w-]*)/g)].map(([, name = '']) => name)
    const [, name, word] = /^(?:npx )?torana ([a-z]+)(?: ([a-z]+))?/.exec(code) ?? []
    const isOther = name === undefined && !code.startsWith('--')
    if (isOther) return []
    const command = COMMANDS.find((one) => one.name === name)
    const leaves = command === undefined ? [] : leavesOf(command)
    const leaf = leaves.find((one) => one.name === word) ?? (leaves.length === 1 ? leaves[0] : undefined)
    const known = leaf === undefined ? everyOption : new Set(Object.keys(allOptions(leaf)))
    return named
      .filter((option) => !known.has(option) && !foreign.has(`--${option}`))
      .map((option) => `${code}: no option --${option}`)
  })

/** Codes, fields, metrics and columns: `budget_exhausted`, `torana_requests_total`. */
const snakeCase: Check = (text) =>
  inlineCodesOf(text).flatMap((code) =>
    [...code.matchAll(/(?<![\w./${-])[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?![\w/.(-])/g)]
      .map(([name]) => name)
      .filter((name) => !sourceWords().has(name) && !foreign.has(name))
      .map((name) => `${name}: in no source`),
  )

const variables: Check = (text) =>
  inlineCodesOf(text).flatMap((code) =>
    [...code.matchAll(/(?<![\w${])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w}])/g)]
      .map(([name]) => name)
      .filter(
        (name) =>
          !Object.hasOwn(environmentVariables, name) &&
          !Object.hasOwn(environmentVariables, name.replace(/_FILE$/, '')) &&
          !sourceWords().has(name) &&
          !foreign.has(name),
      )
      .map((name) => `${name}: no such variable`),
  )

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, Schema>>
}

const fileSchema = JSON.parse(readFileSync(join(REPOSITORY, 'contract/torana.schema.json'), 'utf8')) as Schema
const chartValues = parse(
  readFileSync(join(REPOSITORY, 'deploy/helm/torana/values.yaml'), 'utf8'),
) as Readonly<Record<string, unknown>>

/** The schemas below a field; a mapping's and a list's entries are reached without a name. */
function below(schema: Schema): readonly Schema[] {
  const inner = [
    schema,
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.allOf ?? []),
    ...(schema.items === undefined ? [] : [schema.items]),
    ...(typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : []),
    ...(schema.$ref === undefined ? [] : [fileSchema.$defs?.[schema.$ref.split('/').at(-1) ?? ''] ?? {}]),
  ]
  return inner.flatMap((one) => (one === schema ? [one] : below(one)))
}

function hasSetting(schema: Schema, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return true
  return below(schema).some((one) => {
    const next = one.properties?.[name]
    if (next !== undefined) return hasSetting(next, rest)
    // A name that the operator chose, such as `<project>` or `search`.
    return typeof one.additionalProperties === 'object' && hasSetting(one.additionalProperties, rest)
  })
}

/** Settings by their path: `limits.drainMs`, `projects.<name>.budget`, and those of the chart. */
const settings: Check = (text) =>
  inlineCodesOf(text)
    .filter((code) => /^[a-z][A-Za-z]*(?:\.(?:[a-z][A-Za-z]*|<[a-z]+>|\*))+$/.test(code))
    .filter((code) => Object.hasOwn(fileSchema.properties ?? {}, code.split('.')[0] ?? ''))
    .filter((code) => !hasSetting(fileSchema, code.split('.')) && !isChartValue(code.split('.')))
    .map((code) => `${code}: no such setting`)

function isChartValue(path: readonly string[]): boolean {
  let at: unknown = chartValues
  for (const name of path) {
    if (typeof at !== 'object' || at === null || !(name in at)) return false
    at = (at as Record<string, unknown>)[name]
  }
  return true
}

const contractPaths = ['gateway', 'control'].flatMap((name) => {
  const text = readFileSync(join(REPOSITORY, `contract/${name}.openapi.json`), 'utf8')
  return Object.keys((JSON.parse(text) as { paths: object }).paths)
})
/** What the gateway answers 404 to, and says so. */
const REFUSED_PATHS = new Set(['/v1/chat/completions', '/v1/v1/embeddings', '/v1/images/variations'])

/** Paths of both APIs: `/v1/embeddings`, `/api/v1/keys/{project}/{name}`. */
const paths: Check = (text) =>
  inlineCodesOf(text).flatMap((code) => {
    const [, path] =
      /^(?:(?:GET|POST|PUT|PATCH|DELETE|HEAD) )?(\/(?:api\/)?v1\/[\w{}<>./-]+?)\/?(?:[?#…].*)?$/.exec(code) ??
      []
    if (path === undefined || REFUSED_PATHS.has(path)) return []
    const segments = path.split('/')
    const isKnown = contractPaths.some((known) => {
      const parts = known.split('/')
      return (
        segments.length <= parts.length &&
        segments.every((segment, index) => /^[{:]/.test(parts[index] ?? '') || parts[index] === segment)
      )
    })
    return isKnown ? [] : [`${code}: no such path`]
  })

const { scripts } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as {
  scripts: Readonly<Record<string, string>>
}

const npmScripts: Check = (text) =>
  [...text.matchAll(/npm run (?:-s )?([\w:-]+)(?: -- ([\w/-]+))?/g)].flatMap(
    ([said, script = '', program]) => {
      if (!Object.hasOwn(scripts, script)) return [`${said}: no such script`]
      const isLab = script === 'lab' && program !== undefined && !program.startsWith('-')
      return isLab && !Object.hasOwn(PROGRAMS, program) ? [`${said}: no such program`] : []
    },
  )

/** Files of the repository that prose names. Links have a test of their own. */
const files: Check = (text) =>
  inlineCodesOf(text)
    .filter((code) => /^(?:docs|server|lab|deploy|console|contract|bulk|site)\/[\w./*-]+$/.test(code))
    .filter((code) => globSync(code, { cwd: REPOSITORY }).length === 0 && !existsSync(join(REPOSITORY, code)))
    .map((code) => `${code}: no such file`)

const CHECKS = { commands, options, snakeCase, variables, settings, paths, npmScripts, files }
export type NameKind = keyof typeof CHECKS
export const NAME_KINDS = Object.keys(CHECKS) as readonly NameKind[]

export function unknownNames(kind: NameKind, text: string): readonly string[] {
  const said = kind === 'commands' || kind === 'npmScripts' ? text : proseOf(text)
  return [...new Set(CHECKS[kind](said))]
}

/** Names of other products that no page uses. */
export function idleForeignNames(texts: readonly string[]): readonly string[] {
  const all = texts.join('\n')
  return [...foreign].filter((name) => !all.includes(name))
}
