/** The same request with an SDK. Only the key is missing. */
import type { ImageFields } from '../../api/image-calls.ts'
import { inShell } from '../../parts/snippets/literals.ts'
import { KEY, type Sdk } from '../../parts/snippets/snippet.ts'

/** Those whose code for edits with files was tried. */
export const IMAGE_SDKS = ['curl', 'python', 'node'] as const satisfies readonly Sdk[]
export type ImageSdk = (typeof IMAGE_SDKS)[number]

export interface CodeRequest {
  readonly baseUrl: string
  readonly fields: ImageFields
  /** Names of the files of an edit. */
  readonly images: readonly string[] | undefined
  readonly hasMask: boolean
}

type Pairs = readonly (readonly [name: string, value: string | number | boolean])[]

export function codeFor(sdk: ImageSdk, request: CodeRequest): string {
  const { partial_images: previews, ...fields } = request.fields
  const pairs: Pairs = Object.entries({
    ...fields,
    ...(previews !== undefined && { stream: true, partial_images: previews }),
  }).filter((pair): pair is [string, string | number] => pair[1] !== undefined)
  if (sdk === 'curl') return curl(request, pairs)
  return sdk === 'python' ? python(request, pairs) : node(request, pairs)
}

function curl({ baseUrl, images, hasMask }: CodeRequest, pairs: Pairs): string {
  const head = (
    path: string,
  ) => `curl ${pairs.some(([name]) => name === 'stream') ? '-N ' : ''}${baseUrl}/images/${path} \\
  -H "Authorization: Bearer ${KEY}"`
  if (images === undefined)
    return `${head('generations')} \\
  -H 'Content-Type: application/json' \\
  -d ${shell(JSON.stringify(Object.fromEntries(pairs), undefined, 2))}
`
  const parts = [
    ...pairs.map(([name, value]) => `-F ${shell(`${name}=${value}`)}`),
    ...images.map((name) => `-F ${shell(`image[]=@${name}`)}`),
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

function python({ baseUrl, images, hasMask }: CodeRequest, pairs: Pairs): string {
  const isStream = pairs.some(([name]) => name === 'stream')
  const args = [
    ...pairs.map(
      ([name, value]) => `${name}=${typeof value === 'boolean' ? 'True' : JSON.stringify(value)},`,
    ),
    ...(images === undefined
      ? []
      : [`image=[${images.map((name) => `open(${JSON.stringify(name)}, "rb")`).join(', ')}],`]),
    ...(hasMask ? ['mask=open("mask.png", "rb"),'] : []),
  ]
  const loop = isStream
    ? `for event in answer:
    name = "image" if event.type.endswith("completed") else f"preview-{event.partial_image_index}"
    with open(f"{name}.png", "wb") as file:
        file.write(base64.b64decode(event.b64_json))
`
    : `for number, image in enumerate(answer.data):
    with open(f"image-{number}.png", "wb") as file:
        file.write(base64.b64decode(image.b64_json))
`
  return `import base64
from openai import OpenAI

client = OpenAI(base_url="${baseUrl}", api_key="${KEY}")
answer = client.images.${images === undefined ? 'generate' : 'edit'}(
${args.map((line) => `    ${line}`).join('\n')}
)
${loop}`
}

function node({ baseUrl, images, hasMask }: CodeRequest, pairs: Pairs): string {
  const isStream = pairs.some(([name]) => name === 'stream')
  const args = [
    ...pairs.map(([name, value]) => `${name}: ${JSON.stringify(value)},`),
    ...(images === undefined
      ? []
      : [`image: [${images.map((name) => `createReadStream(${JSON.stringify(name)})`).join(', ')}],`]),
    ...(hasMask ? ["mask: createReadStream('mask.png'),"] : []),
  ]
  const loop = isStream
    ? `for await (const event of answer) {
  const name = event.type.endsWith('completed') ? 'image' : \`preview-\${event.partial_image_index}\`
  writeFileSync(\`\${name}.png\`, Buffer.from(event.b64_json, 'base64'))
}
`
    : `for (const [number, image] of answer.data.entries())
  writeFileSync(\`image-\${number}.png\`, Buffer.from(image.b64_json, 'base64'))
`
  return `import { ${images === undefined ? '' : 'createReadStream, '}writeFileSync } from 'node:fs'
import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${baseUrl}', apiKey: '${KEY}' })
const answer = await client.images.${images === undefined ? 'generate' : 'edit'}({
${args.map((line) => `  ${line}`).join('\n')}
})
${loop}`
}
