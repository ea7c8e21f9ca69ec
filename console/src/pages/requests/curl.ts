/** The request as a command for a shell, with the fields of its caller that the log has. Placeholders stand for inputs: Torana keeps none. */
import type { RequestDetail } from '../../api/queries/requests.ts'
import { inShell } from '../../parts/snippets/literals.ts'

const PATHS = {
  embedding: '/v1/embeddings',
  generation: '/v1/images/generations',
  edit: '/v1/images/edits',
} as const

const INPUTS = {
  embedding: { input: 'YOUR TEXT' },
  generation: { prompt: 'YOUR PROMPT' },
  edit: { prompt: 'YOUR PROMPT', images: [{ image_url: 'data:image/png;base64,YOUR IMAGE' }] },
} as const

export function routeOf(kind: RequestDetail['kind']): string {
  return `POST ${PATHS[kind]}`
}

export function writeCurl(request: RequestDetail, gatewayUrl: string): string {
  const { kind, asked_model: model, dropped, user, tags } = request
  const body = {
    model: model ?? 'YOUR MODEL',
    ...(kind === 'embedding' ? readEmbeddingFields(request) : readImageFields(request)),
    ...(user !== null && { user }),
    ...(Object.keys(tags).length > 0 && { metadata: tags }),
    ...INPUTS[kind],
  }
  return [
    `curl ${quoted(`${gatewayUrl.replace(/\/$/, '')}${PATHS[kind]}`)}`,
    `-H "Authorization: Bearer $TORANA_KEY"`,
    `-H 'Content-Type: application/json'`,
    ...(dropped.length > 0 ? [`-H 'x-torana-unsupported: drop'`] : []),
    `-d ${quoted(JSON.stringify(body))}`,
  ].join(' \\\n  ')
}

/** The log has all fields of a request whose call differed, and of the others what their answer shows. */
function readEmbeddingFields({ wire, steps }: RequestDetail): Readonly<Record<string, unknown>> {
  const { input: _number, model: _asked, output_dtype: types, ...fields } = wire.in
  if ('encoding_format' in fields) return { ...fields, ...readTypes(types) }
  const { width: dimensions, encoding } = Object.assign({}, ...steps.map(({ note }) => note))
  return {
    ...(dimensions !== undefined && { dimensions }),
    ...(encoding !== undefined && { encoding_format: encoding }),
  }
}

/** Only the field that Cohere's SDK sends takes several types. */
function readTypes(types: unknown): Readonly<Record<string, unknown>> {
  if (typeof types !== 'string') return {}
  return types.includes(', ') ? { embedding_types: types.split(', ') } : { output_dtype: types }
}

function readImageFields({ images }: RequestDetail): Readonly<Record<string, unknown>> {
  return images === null || images < 2 ? {} : { n: images }
}

function quoted(text: string): string {
  return `'${inShell(text)}'`
}
