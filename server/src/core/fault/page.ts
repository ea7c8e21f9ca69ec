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
    `**HTTP ${status}** · who has to act: ${WHO[who]} · worth retrying: ${retry ? 'yes' : 'no'}`,
    '',
    meaning,
    '',
    `**What to do:** ${nextStep}`,
    '',
  ].join('\n')
}

export function allFaultsMarkdown(): string {
  const codes = Object.keys(FAULTS) as FaultCode[]
  const rows = codes.map(
    (code) => `| [\`${code}\`](#${code}) | ${FAULTS[code].status} | ${FAULTS[code].retry ? 'yes' : 'no'} |`,
  )
  return [
    '# Errors',
    '',
    "Every error has OpenAI's shape, so that SDKs raise their usual classes, and three additions inside it: `request_id` (also in",
    'the `x-request-id` header and in the log), `doc_url` (the page of the code, served by the gateway itself) and, when an',
    'upstream failed, `upstream` with the deployment, its status and its own request id.',
    '',
    '```json',
    JSON.stringify(
      {
        error: {
          message:
            "Model 'text-embeding-3-small' is not configured. Did you mean 'text-embedding-3-small'? List what this key may use: GET /v1/models.",
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
    "`x-should-retry` tells OpenAI's SDKs whether trying again can help; `retry-after` and `retry-after-ms` tell when.",
    'This page is generated from the catalogue in `server/src/core/fault/`.',
    '',
    '| code | status | retry |',
    '|---|---|---|',
    ...rows,
    '',
    ...codes.map(faultMarkdown),
  ].join('\n')
}
