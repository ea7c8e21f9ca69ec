/** The same request with an SDK. Only the key is missing. */
import type { ImageFields } from '../../api/image-calls.ts'
import { inShell } from '../../parts/snippets/literals.ts'
import { KEY, type Sdk } from '../../parts/snippets/snippet.ts'

/** Those whose code for edits with files was tried. */
export const IMAGE_SDKS = ['curl', 'python', 'node'] as const satisfies readonly Sdk[]
export type ImageSdk = (typeof IMAGE_SDKS)[number]

export interface Wanted {
  readonly baseUrl: string
  readonly fields: ImageFields
  /** Names of the files of an edit. */
  readonly pictures: readonly string[] | undefined
  readonly hasMask: boolean
}

type Pairs = readonly (readonly [name: string, value: string | number | boolean])[]

export function codeFor(sdk: ImageSdk, wanted: Wanted): string {
  const { partial_images: previews, ...fields } = wanted.fields
  const pairs: Pairs = Object.entries({
    ...fields,
    ...(previews !== undefined && { stream: true, partial_images: previews }),
  }).filter((pair): pair is [string, string | number] => pair[1] !== undefined)
  if (sdk === 'curl') return curl(wanted, pairs)
  return sdk === 'python' ? python(wanted, pairs) : node(wanted, pairs)
}

function curl({ baseUrl, pictures, hasMask }: Wanted, pairs: Pairs): string {
  const head = (
    path: string,
  ) => `curl ${pairs.some(([name]) => name === 'stream') ? '-N ' : ''}${baseUrl}/images/${path} \\
  -H "Authorization: Bearer ${KEY}"`
  if (pictures === undefined)
    return `${head('generations')} \\
  -H 'Content-Type: application/json' \\
  -d ${shell(JSON.stringify(Object.fromEntries(pairs), undefined, 2))}
`
  const parts = [
    ...pairs.map(([name, value]) => `-F ${shell(`${name}=${value}`)}`),
    ...pictures.map((name) => `-F ${shell(`image[]=@${name}`)}`),
    ...(hasMask ? ['-F mask=@mask.png'] : []),
  ]
  return `${head('edits')} \\
${parts.map((part) => `  ${part}`).join(' \\\n')}
`
}

/** In single quotes nothing means anything but their end. */
function shell(text: string): string {
  return `'${inShell(text)}'`
}

function python({ baseUrl, pictures, hasMask }: Wanted, pairs: Pairs): string {
  const isStream = pairs.some(([name]) => name === 'stream')
  const given = [
    ...pairs.map(
      ([name, value]) => `${name}=${typeof value === 'boolean' ? 'True' : JSON.stringify(value)},`,
    ),
    ...(pictures === undefined
      ? []
      : [`image=[${pictures.map((name) => `open(${JSON.stringify(name)}, "rb")`).join(', ')}],`]),
    ...(hasMask ? ['mask=open("mask.png", "rb"),'] : []),
  ]
  const loop = isStream
    ? `for event in answer:
    name = "picture" if event.type.endswith("completed") else f"preview-{event.partial_image_index}"
    with open(f"{name}.png", "wb") as file:
        file.write(base64.b64decode(event.b64_json))
`
    : `for number, picture in enumerate(answer.data):
    with open(f"picture-{number}.png", "wb") as file:
        file.write(base64.b64decode(picture.b64_json))
`
  return `import base64
from openai import OpenAI

client = OpenAI(base_url="${baseUrl}", api_key="${KEY}")
answer = client.images.${pictures === undefined ? 'generate' : 'edit'}(
${given.map((line) => `    ${line}`).join('\n')}
)
${loop}`
}

function node({ baseUrl, pictures, hasMask }: Wanted, pairs: Pairs): string {
  const isStream = pairs.some(([name]) => name === 'stream')
  const given = [
    ...pairs.map(([name, value]) => `${name}: ${JSON.stringify(value)},`),
    ...(pictures === undefined
      ? []
      : [`image: [${pictures.map((name) => `createReadStream(${JSON.stringify(name)})`).join(', ')}],`]),
    ...(hasMask ? ["mask: createReadStream('mask.png'),"] : []),
  ]
  const loop = isStream
    ? `for await (const event of answer) {
  const name = event.type.endsWith('completed') ? 'picture' : \`preview-\${event.partial_image_index}\`
  writeFileSync(\`\${name}.png\`, Buffer.from(event.b64_json, 'base64'))
}
`
    : `for (const [number, picture] of answer.data.entries())
  writeFileSync(\`picture-\${number}.png\`, Buffer.from(picture.b64_json, 'base64'))
`
  return `import { ${pictures === undefined ? '' : 'createReadStream, '}writeFileSync } from 'node:fs'
import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${baseUrl}', apiKey: '${KEY}' })
const answer = await client.images.${pictures === undefined ? 'generate' : 'edit'}({
${given.map((line) => `  ${line}`).join('\n')}
})
${loop}`
}
