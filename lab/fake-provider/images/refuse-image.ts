import { refuseFields } from '../refusals.ts'
import type { Scenario } from '../traits.ts'
import { Refusal } from '../wire.ts'
import type { ImageWire } from './image-wire.ts'
import type { ImageQuestion, Moderated } from './image-question.ts'

/** Refuses what the scenario or the wire cannot make. */
export function refuseUnmakeable(scenario: Scenario, wire: ImageWire, question: ImageQuestion): void {
  const { fields, unknownFields, prompt, n } = question
  refuseFields(scenario, { fields, unknownFields, texts: [prompt], tokenArrays: false })
  const maxN = scenario.amount('max-n-N') ?? wire.maxN
  if (n > maxN) {
    throw new Refusal(400, `Invalid 'n': integer above maximum value. Expected at most ${maxN}, got ${n}.`, {
      code: 'integer_above_max_value',
      param: 'n',
    })
  }
  refuseSize(scenario, question)
  if (scenario.has('refuses-legacy')) refuseLegacy(question)
  if (question.previews !== null && scenario.has('refuses-stream')) {
    throw new Refusal(400, "'stream' is not supported.", { code: 'unsupported_parameter', param: 'stream' })
  }
  if (moderatedBy(scenario) !== null && wire.moderation === 'refuses') {
    throw new Refusal(400, 'Your request was rejected by the safety system. safety_violations=[violence].', {
      code: 'moderation_blocked',
    })
  }
}

export function moderatedBy(scenario: Scenario): Moderated {
  if (scenario.has('moderation-output')) return 'output'
  return scenario.has('moderation') ? 'input' : null
}

/** Options of the DALL·E models. */
function refuseLegacy({ fields }: ImageQuestion): void {
  if ('style' in fields) {
    throw new Refusal(400, "Unknown parameter: 'style'.", { code: 'unknown_parameter', param: 'style' })
  }
  if (fields['quality'] === 'standard' || fields['quality'] === 'hd') {
    throw new Refusal(400, "Invalid value. Supported values are: 'low', 'medium', 'high', and 'auto'.", {
      code: 'invalid_value',
      param: 'quality',
    })
  }
}

function refuseSize(scenario: Scenario, { size, width, height }: ImageQuestion): void {
  if (size === null) return
  const asked = `${width}x${height}`
  const refuse = (supported: string) =>
    new Refusal(400, `Invalid size '${asked}'. Supported sizes are ${supported}.`, {
      code: 'invalid_value',
      param: 'size',
    })
  const { sizes } = scenario
  if (sizes !== null && !sizes.includes(asked)) throw refuse(`${sizes.join(', ')}, and auto`)
  if (scenario.has('free-sizes') && !isFreeSize(width, height)) {
    throw refuse('multiples of 16 up to 3840 and 3:1, of 655360 to 8294400 pixels')
  }
}

function isFreeSize(width: number, height: number): boolean {
  const long = Math.max(width, height)
  const short = Math.min(width, height)
  const pixels = width * height
  const inSteps = width % 16 === 0 && height % 16 === 0
  return inSteps && long <= 3840 && long <= 3 * short && pixels >= 655_360 && pixels <= 8_294_400
}
