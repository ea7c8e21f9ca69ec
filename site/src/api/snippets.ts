/** Requests that run as pasted: against the node of the quick start, with its demo models. */
import { jsonText } from './json.ts'
import type { Operation } from './operations.ts'

interface Snippet {
  readonly label: string
  readonly language: string
  readonly code: string
}

const PORTS = { gateway: 8080, control: 8081 } as const
const TOKENS = { gateway: '$TORANA_KEY', control: '$TORANA_ADMIN_TOKEN' } as const
/** Values of path parameters. */
const VALUES: Readonly<Record<string, string>> = {
  id: '<id>',
  model: 'demo-embed',
  project: 'search',
  name: 'indexer',
}
/** Methods of OpenAI's SDKs. Those of the control API, and of other paths, have none. */
const CALLS: Readonly<Record<string, string>> = {
  'create-embeddings': 'embeddings.create',
  'create-images': 'images.generate',
  'create-batch': 'batches.create',
  'list-batches': 'batches.list',
  'list-files': 'files.list',
  'list-models': 'models.list',
}

export function snippetsOf(operation: Operation): Snippet[] {
  const call = operation.api === 'gateway' ? CALLS[operation.slug] : undefined
  const curl = { label: 'curl', language: 'sh', code: curlOf(operation) }
  if (call === undefined) return [curl]
  const example = operation.requestExample as Readonly<Record<string, unknown>> | undefined
  return [
    curl,
    { label: 'Python', language: 'python', code: pythonOf(call, example) },
    { label: 'Node', language: 'js', code: nodeOf(call, example) },
  ]
}

function curlOf({ api, method, path, contentType, parameters, ...rest }: Operation): string {
  const required = rest.body.filter(({ name, isRequired }) => isRequired && !name.includes('.'))
  const placeholders = Object.fromEntries(required.map(({ name }) => [name, `<${name}>`]))
  const requestExample = rest.requestExample ?? (required.length > 0 ? placeholders : undefined)
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => VALUES[name] ?? `<${name}>`)
  const asked = parameters.filter((one) => one.place === 'query' && one.isRequired)
  const query = asked.map(({ name }) => `${name}=<${name}>`).join('&')
  const url = `http://127.0.0.1:${PORTS[api]}${filled}${query === '' ? '' : `?${query}`}`
  const address = /[<>&?]/.test(url) ? `"${url}"` : url
  const lines = [`curl -s ${method === 'GET' ? '' : `-X ${method} `}${address}`]
  lines.push(`-H "Authorization: Bearer ${TOKENS[api]}"`)
  if (requestExample !== undefined && contentType?.startsWith('multipart'))
    for (const [name, value] of Object.entries(requestExample)) lines.push(`-F ${name}="${String(value)}"`)
  else if (requestExample !== undefined) {
    lines.push('-H "Content-Type: application/json"')
    lines.push(`-d '${jsonText(requestExample).replaceAll('\n', '\n  ')}'`)
  }
  return lines.join(' \\\n  ').replace(` -X POST`, requestExample === undefined ? ' -X POST' : '')
}

function pythonOf(call: string, example: Readonly<Record<string, unknown>> = {}): string {
  const fields = Object.entries(example).map(([name, value]) => `    ${name}=${python(value)},\n`)
  return `import os
from openai import OpenAI

client = OpenAI(
    base_url="http://127.0.0.1:8080/v1",
    api_key=os.environ["TORANA_KEY"],
)
answer = client.${call}(${fields.length === 0 ? '' : `\n${fields.join('')}`})
print(answer)`
}

/** JSON is Python, but for its three words. */
function python(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll(/\btrue\b/g, 'True')
    .replaceAll(/\bfalse\b/g, 'False')
    .replaceAll(/\bnull\b/g, 'None')
    .replaceAll(/(",|":)/g, '$1 ')
}

function nodeOf(call: string, example: Readonly<Record<string, unknown>> = {}): string {
  const fields = Object.entries(example).map(
    ([name, value]) =>
      `  ${name}: ${JSON.stringify(value).replaceAll('"', "'").replaceAll("','", "', '")},\n`,
  )
  return `import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: 'http://127.0.0.1:8080/v1',
  apiKey: process.env.TORANA_KEY,
})
const answer = await client.${call}(${fields.length === 0 ? '' : `{\n${fields.join('')}}`})
console.log(answer)`
}
