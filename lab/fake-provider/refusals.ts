import { limitsOf, refuseContents } from './content-limits.ts'
import type { Scenario } from './traits.ts'
import { Refusal, widthOf, type Question, type Wire } from './wire.ts'

/** Refuses what the scenario or the wire cannot serve: the checks of a real server, in the order one meets them. */
export function refuseUnservable(scenario: Scenario, wire: Wire, question: Question): void {
  refuseFields(scenario, question)
  refuseEncoding(scenario, question)
  refuseDimensions(scenario, question)
  refuseSize(scenario, wire, question)
  refuseContents(scenario, wire, question)
  refuseMarked(question)
}

/** An input with this text spoils its whole call, on every wire and in every scenario. */
export const refusedMarker = '@@refuse@@'

function refuseMarked({ texts }: Question): void {
  const index = texts.findIndex((text) => text.includes(refusedMarker))
  if (index < 0) return
  const param = `input[${index}]`
  throw new Refusal(400, `Invalid '${param}': this text is not accepted.`, { code: 'invalid_value', param })
}

export function refuseFields(
  scenario: Scenario,
  {
    fields,
    unknownFields,
    texts,
    tokenArrays,
  }: Pick<Question, 'fields' | 'unknownFields' | 'texts' | 'tokenArrays'>,
): void {
  if (scenario.has('refuses-null')) {
    const empty = Object.keys(fields).find((field) => fields[field] === null)
    if (empty !== undefined) throw new Refusal(400, `'${empty}' must not be null.`)
  }
  if (scenario.has('strict-fields') && unknownFields.length > 0) {
    throw new Refusal(400, `Unrecognized request argument supplied: ${unknownFields.join(', ')}`, {
      code: 'unknown_parameter',
    })
  }
  if (scenario.has('refuses-user') && 'user' in fields) {
    throw new Refusal(400, "'user' is not supported.", { code: 'unsupported_parameter' })
  }
  if (tokenArrays && scenario.has('refuses-token-arrays')) {
    throw new Refusal(
      scenario.amount('refuses-token-arrays') ?? 400,
      'invalid input type: send text, not tokens',
    )
  }
  if (scenario.has('refuses-poison') && texts.some((text) => text.includes('poison'))) {
    throw new Refusal(400, 'An input was refused by the content policy.', {
      code: 'content_policy_violation',
    })
  }
}

function refuseEncoding(scenario: Scenario, { fields, encoding }: Question): void {
  const refuse = (supported: string) =>
    new Refusal(400, `Invalid value for 'encoding_format' = ${encoding}. Supported values: ${supported}.`)
  if (scenario.has('refuses-encoding') && 'encoding_format' in fields) {
    throw new Refusal(400, "'encoding_format' is not supported.", { code: 'unsupported_parameter' })
  }
  if (scenario.has('float-only') && encoding === 'base64') throw refuse("['float']")
  if (scenario.has('base64-only') && encoding === 'float') throw refuse("['base64']")
  if (scenario.has('refuses-float') && encoding === 'float') throw refuse("[null, 'base64']")
}

function refuseDimensions(scenario: Scenario, { dimensions, model }: Question): void {
  if (dimensions === null) return
  if (scenario.has('refuses-dimensions')) {
    throw new Refusal(400, 'This model does not support specifying dimensions.')
  }
  const width = widthOf(model)
  if (dimensions > width && !scenario.has('ignores-dimensions')) {
    throw new Refusal(400, `Invalid value for 'dimensions' = ${dimensions}. Must be at most ${width}.`)
  }
}

function refuseSize(scenario: Scenario, wire: Wire, question: Question): void {
  const { texts, tokens, contents } = question
  const ofContents = contents === undefined ? undefined : limitsOf(wire, question).maxInputs
  const maxInputs = scenario.amount('max-inputs-N') ?? ofContents ?? wire.maxInputs
  if (texts.length > maxInputs) {
    throw new Refusal(400, `Too many inputs: ${texts.length}, at most ${maxInputs} are allowed.`)
  }
  const maxInputTokens = scenario.amount('max-input-tokens-N') ?? Infinity
  const longest = Math.max(...tokens)
  if (longest > maxInputTokens) {
    throw new Refusal(
      400,
      `This model's maximum context length is ${maxInputTokens} tokens, you sent ${longest}.`,
      {
        code: 'context_length_exceeded',
      },
    )
  }
  const maxTokens = scenario.amount('max-tokens-N') ?? Infinity
  const total = tokens.reduce((sum, count) => sum + count, 0)
  if (total > maxTokens) {
    throw new Refusal(
      400,
      `Requested ${total} tokens, at most ${maxTokens} tokens per request are allowed.`,
      {
        code: 'max_tokens_per_request',
      },
    )
  }
}
