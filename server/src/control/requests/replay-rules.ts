/** Whether a request can be sent again, and what that would send and cost. */
import { z } from 'zod'
import { decimalOf, nanoUsdOf } from '#core/money/price.ts'
import { CAPTURED_MS, MAX_CAPTURED_BYTES, type CapturedInput } from '#ports/captures.ts'
import { time, usd } from '../shared/fields.ts'

/** Why a request can't be sent again. */
const REASONS = ['capture_off', 'expired', 'too_large', 'batch', 'not_captured'] as const

export const replay = z
  .object({
    possible: z.boolean(),
    reason: z
      .enum(REASONS)
      .nullable()
      .describe(
        '`not_captured`: capture was off at the time, the body never arrived, or newer inputs needed the room.',
      ),
    text: z.string().nullable().describe('The reason as a sentence, with the next step.'),
  })
  .meta({ id: 'Replay' })

type Replay = z.output<typeof replay>
type Reason = (typeof REASONS)[number]

const HOURS = CAPTURED_MS / 3_600_000
const MEGABYTES = MAX_CAPTURED_BYTES / 1024 / 1024

const TEXTS: Readonly<Record<Reason, (project: string) => string>> = {
  capture_off: (project) =>
    `${project} does not capture inputs. An admin can turn capture on; it applies to requests from then on.`,
  expired: () => `Inputs are kept for ${HOURS} hours, and those of this request were deleted.`,
  too_large: () => `The request is larger than ${MEGABYTES} MB, so its input was not kept.`,
  batch: () => 'It is part of a batch. Run the lines again in another batch.',
  not_captured: () =>
    'Its input was not kept: capture was off at the time, its body did not arrive, or newer inputs needed the room.',
}

export interface Replayable {
  readonly project: string | null
  readonly source: 'callers' | 'batches'
  readonly ageMs: number
  readonly bytes: number
  readonly isCaptured: boolean
  /** Whether the project captures inputs now. */
  readonly captures: boolean
}

export function replayOf(request: Replayable): Replay {
  const reason = reasonOf(request)
  if (reason === undefined) return { possible: true, reason: null, text: null }
  return { possible: false, reason, text: TEXTS[reason](request.project ?? 'Torana') }
}

function reasonOf({ project, source, ageMs, bytes, isCaptured, captures }: Replayable): Reason | undefined {
  if (source === 'batches') return 'batch'
  if (project === null || !captures) return 'capture_off'
  if (isCaptured) return undefined
  if (ageMs >= CAPTURED_MS) return 'expired'
  return bytes > MAX_CAPTURED_BYTES ? 'too_large' : 'not_captured'
}

/** Characters of a body that are shown: enough to recognise it. */
const MAX_SHOWN_CHARACTERS = 4000

const refusal = z.object({ status: z.int(), code: z.string(), message: z.string() })

export const replayPreview = z
  .object({
    ...replay.shape,
    project: z.string().nullable().describe('The project that pays.'),
    expires_at: time.nullable().describe('When the input is deleted.'),
    sends: z
      .object({
        body: z.string().describe(`The beginning of it, at most ${MAX_SHOWN_CHARACTERS} characters.`),
        bytes: z.int(),
        headers: z.record(z.string(), z.string()),
      })
      .nullable(),
    cost: z
      .object({
        max_usd: usd.nullable().describe('The most that it can cost. null: a deployment has no price.'),
        model: z.string(),
        deployments: z.array(z.object({ id: z.string(), max_usd: usd.nullable() })),
      })
      .nullable(),
    refusal: refusal
      .nullable()
      .describe('What the request would be refused with as things are now. It would cost nothing.'),
  })
  .meta({ id: 'ReplayPreview' })

type Preview = z.output<typeof replayPreview>

export function sendsOf({ body, headers }: CapturedInput): NonNullable<Preview['sends']> {
  const text = Buffer.from(body).toString('utf8', 0, MAX_SHOWN_CHARACTERS * 4)
  return { body: text.slice(0, MAX_SHOWN_CHARACTERS), bytes: body.length, headers: { ...headers } }
}

interface DryRunBody {
  readonly model: string
  readonly deployments: readonly { readonly id: string; readonly cost_usd: { readonly max: string } }[]
}

/** What a dry run answered. */
export function costOf(status: number, body: string): Pick<Preview, 'cost' | 'refusal'> {
  if (status !== 200) return { cost: null, refusal: refusalIn(status, body) }
  const { model, deployments } = JSON.parse(body) as DryRunBody
  const costs = deployments.map(({ id, cost_usd: { max } }) => ({
    id,
    max_usd: max === 'unpriced' ? null : max,
  }))
  const isPriced = costs.every(({ max_usd: max }) => max !== null)
  const most = costs.reduce((sum, { max_usd: max }) => bigger(sum, nanoUsdOf(max ?? '0')), 0n)
  return { cost: { model, max_usd: isPriced ? decimalOf(most) : null, deployments: costs }, refusal: null }
}

function bigger(left: bigint, right: bigint): bigint {
  return left > right ? left : right
}

/** The fault that the gateway answered with. */
export function refusalIn(status: number, body: string): z.output<typeof refusal> {
  const { error } = JSON.parse(body) as { error: { code: string; message: string } }
  return { status, code: error.code, message: error.message }
}
