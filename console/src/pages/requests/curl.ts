/** The request as a line of shell. Inputs were not kept, so they are three dots. */
import type { RequestDetail } from '../../api/queries/requests.ts'

const PATHS = {
  embedding: '/v1/embeddings',
  generation: '/v1/images/generations',
  edit: '/v1/images/edits',
} as const

export function routeOf(kind: RequestDetail['kind']): string {
  return `POST ${PATHS[kind]}`
}

export function curlOf(request: RequestDetail, gatewayUrl: string): string {
  const { kind, asked_model: model, wire } = request
  const address = `${gatewayUrl.replace(/\/$/, '')}${PATHS[kind]}`
  const lines = [`curl ${address}`, `-H "authorization: Bearer $TORANA_KEY"`]
  if (kind === 'edit') lines.push(`-F model=${quoted(model ?? '')}`, `-F prompt='…'`, `-F image=@…`)
  else {
    const { input: _input, ...fields }: Record<string, unknown> = { ...wire.in, model }
    const given = kind === 'embedding' ? { ...fields, input: ['…'] } : { ...fields, prompt: '…' }
    lines.push(`-H 'content-type: application/json'`, `-d ${quoted(JSON.stringify(given))}`)
  }
  return lines.join(' \\\n  ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
