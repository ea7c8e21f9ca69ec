/** The pages of the fault catalogue, for `docs/errors.md` and for the gateway's own `/docs/errors/{code}`. */
import { type FaultCode } from './fault.ts'
import { FAULTS } from './table.ts'

const WHO = {
  caller: 'the application that sent the request',
  operator: 'the operator of the gateway',
  upstream: 'the upstream',
  gateway: 'Torana itself',
} as const

export function faultMarkdown(code: FaultCode): string {
  const { status, retry, who, meaning, nextStep } = FAULTS[code]
  return [
    `## ${code}`,
    '',
    `**HTTP ${status}** · who must act: ${WHO[who]} · retry helps: ${retry ? 'yes' : 'no'}`,
    '',
    meaning,
    '',
    `**What to do:** ${nextStep}`,
    '',
  ].join('\n')
}

export function allFaultsMarkdown(): string {
  const codes = (Object.keys(FAULTS) as FaultCode[]).toSorted((a, b) => FAULTS[a].status - FAULTS[b].status)
  const rows = codes.map(
    (code) => `| [\`${code}\`](#${code}) | ${FAULTS[code].status} | ${FAULTS[code].retry ? 'yes' : 'no'} |`,
  )
  return [
    '# Errors',
    '',
    "Every error has OpenAI's shape, so SDKs raise their usual exceptions. Torana adds three fields:",
    '',
    '- `request_id`: the same id is in the `x-request-id` header and in the log.',
    '- `doc_url`: the page about the code, which the gateway serves itself.',
    "- `upstream`, only if an upstream failed: the deployment, its HTTP status and the upstream's own request id.",
    '',
    '```json',
    JSON.stringify(
      {
        error: {
          message:
            "Model 'text-embeding-3-small' is not configured. Did you mean 'text-embedding-3-small'? This key may use: text-embedding-3-small (GET /v1/models).",
          type: 'not_found_error',
          param: 'model',
          code: 'model_not_found',
          request_id: '0197f0f3-6a2c-7d61-9c55-3f1b1c2d3e4f',
          doc_url: 'http://127.0.0.1:8080/docs/errors/model_not_found',
        },
      },
      undefined,
      2,
    ),
    '```',
    '',
    "The `x-should-retry` header tells OpenAI's SDKs whether a retry helps. `retry-after` and `retry-after-ms` say when.",
    '',
    'This page is generated from the catalogue in `server/src/core/fault/`.',
    '',
    '| code | status | retry |',
    '|---|---|---|',
    ...rows,
    '',
    ...codes.map(faultMarkdown),
  ].join('\n')
}
