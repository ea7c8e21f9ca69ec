import type { Reply } from './delivery.ts'
import type { Scenario } from './traits.ts'
import type { Refusal, Wire } from './wire.ts'

/** An error in the wire's own shape, unless the scenario asks for another one. */
export function errorReply(scenario: Scenario | null, wire: Pick<Wire, 'refuse'>, refusal: Refusal): Reply {
  const { contentType, body } = shaped(scenario, wire, refusal)
  return {
    status: refusal.status,
    headers: { 'content-type': contentType, ...refusal.headers },
    body: Buffer.from(body),
  }
}

function shaped(
  scenario: Scenario | null,
  wire: Pick<Wire, 'refuse'>,
  refusal: Refusal,
): { contentType: string; body: string } {
  const { message, code, type } = refusal
  const json = (body: string) => ({ contentType: 'application/json', body })
  if (scenario?.has('error-detail')) return json(JSON.stringify({ detail: message }))
  if (scenario?.has('error-flat')) return json(JSON.stringify({ message, code, type }))
  if (scenario?.has('error-string')) return json(JSON.stringify({ error: message }))
  if (scenario?.has('error-text')) return { contentType: 'text/plain', body: message }
  if (scenario?.has('error-empty')) return { contentType: 'text/plain', body: '' }
  if (scenario?.has('error-html')) return { contentType: 'text/html', body: htmlPage(message) }
  return json(wire.refuse(refusal))
}

export function htmlPage(message: string): string {
  return `<!doctype html><html><head><title>fake-provider</title></head><body><h1>${message}</h1></body></html>`
}
